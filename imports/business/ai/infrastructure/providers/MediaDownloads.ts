/** The downloads of one request: few at a time, each URL once, and bounded in number, bytes and time together. */
import pLimit from 'p-limit';
import { isLLMError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { InputFile, InputImage } from '../../domain/types/ResponsesAPITypes';
import type { TransportLimits } from '../../domain/types/VendorTypes';
import { guardedDownload } from '../clients/http/guardedDownload';
import type { Download } from '../clients/http/guardedDownload';

export interface MediaDownloadsOptions {
  readonly allowPrivateHosts: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly limits: Pick<TransportLimits, 'maxMediaBytes' | 'maxMediaDownloads'>;
}

type MediaPart = (InputImage | InputFile)['type'];

/** Milliseconds for all downloads of a request together. */
const TIMEOUT_MS = 30_000;
const PARALLEL = 4;
const CONTENT_TYPES = {
  input_image: ['image/*'],
  input_file: ['application/*', 'text/*', 'audio/*', 'video/*', 'image/*'],
} as const satisfies Record<MediaPart, readonly string[]>;

export class MediaDownloads {
  private readonly options: MediaDownloadsOptions;
  private readonly slots = pLimit(PARALLEL);
  private readonly downloads = new Map<string, Promise<Download>>();
  private readonly deadline = performance.now() + TIMEOUT_MS;
  /** Ends the other downloads of the request as soon as one has failed. */
  private readonly controller = new AbortController();
  private receivedBytes = 0;

  constructor(options: MediaDownloadsOptions) {
    this.options = options;
  }

  /**
   * @param path of the part, for errors
   * @throws LLMInvalidRequestError whatever goes wrong: the caller named the URL, so it is no failure of the vendor's;
   *   the signal's reason
   */
  fetch(url: string, type: MediaPart, path: string): Promise<Download> {
    const key = `${type} ${url}`;
    const known = this.downloads.get(key);
    if (known !== undefined) return this.repeated(known, path);
    const { maxMediaDownloads } = this.options.limits;
    if (this.downloads.size >= maxMediaDownloads)
      return Promise.reject(
        new LLMInvalidRequestError(
          `The request names more than ${maxMediaDownloads} URLs that must be downloaded for this vendor. Send fewer, or send the data itself.`,
          { path },
        ),
      );
    const download = this.slots(() => this.download(url, type, path));
    this.downloads.set(key, download);
    return download;
  }

  /** Each part holds a copy. */
  private async repeated(download: Promise<Download>, path: string): Promise<Download> {
    const downloaded = await download;
    this.count(downloaded.bytes.byteLength, path);
    return downloaded;
  }

  private async download(url: string, type: MediaPart, path: string): Promise<Download> {
    const { allowPrivateHosts, signal, limits } = this.options;
    signal?.throwIfAborted();
    const timeout = Math.ceil(this.deadline - performance.now());
    if (timeout <= 0 || this.controller.signal.aborted)
      throw new LLMInvalidRequestError(`The downloads of the request took longer than ${TIMEOUT_MS} ms.`, { path });
    try {
      return await guardedDownload(url, {
        maxBytes: limits.maxMediaBytes,
        timeout,
        contentTypes: CONTENT_TYPES[type],
        signal: signal === undefined ? this.controller.signal : AbortSignal.any([signal, this.controller.signal]),
        allowPrivateHosts,
        onBytes: (bytes) => this.count(bytes, path),
      });
    } catch (cause) {
      this.controller.abort(cause);
      signal?.throwIfAborted();
      if (!isLLMError(cause)) throw cause;
      throw new LLMInvalidRequestError(cause.message, { cause, path });
    }
  }

  /** @throws LLMInvalidRequestError if the request has too much */
  count(bytes: number, path: string): void {
    this.receivedBytes += bytes;
    const { maxMediaBytes } = this.options.limits;
    if (this.receivedBytes > maxMediaBytes)
      throw new LLMInvalidRequestError(
        `The images and files that the request names by URL have more than ${maxMediaBytes} bytes together. Send fewer or smaller ones.`,
        { path },
      );
  }
}
