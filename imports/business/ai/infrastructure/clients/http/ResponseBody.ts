/**
 * A pull-based response body: back-pressure reaches the socket, leaving the iteration destroys it, and a premature end
 * is an error.
 */
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { isLLMError, LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../domain/util/omitUndefined';

export interface ResponseBodyOptions {
  /** Limit on the decoded body, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly host: string;
  readonly details: LLMErrorDetails;
}

/** How much may be buffered for the consumer before the socket is paused. */
const MAX_BUFFERED_BYTES = 64 * 1024;

interface PendingRead {
  readonly resolve: (result: IteratorResult<Buffer, undefined> | Promise<never>) => void;
}

/** Can be read once. `next` throws LLMStreamError, LLMTimeoutError or the signal's reason. */
export class ResponseBody implements AsyncIterableIterator<Buffer, undefined> {
  private readonly message: IncomingMessage;
  private readonly source: Readable;
  private readonly options: ResponseBodyOptions;
  private chunks: Buffer[] = [];
  private bufferedBytes = 0;
  private receivedBytes = 0;
  private pendingRead: PendingRead | undefined;
  private isStarted = false;
  /** Whether all chunks are handed over at the end, rather than as they arrive. */
  private isCollected = false;
  private state: 'open' | 'ended' | 'left' = 'open';
  private error: LLMError | undefined;
  private collectedText: Promise<string> | undefined;

  constructor(message: IncomingMessage, options: ResponseBodyOptions) {
    this.message = message;
    this.options = options;
    this.source = decodeBody(message, options.details);
    this.source.on('error', (error) => this.onPrematureEnd(error));
    // A destroyed body may emit neither `end` nor `error`.
    this.source.on('close', () => this.onPrematureEnd());
    this.source.on('end', () => this.end());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    if (!this.isStarted) this.start();
    const chunk = this.isCollected && this.state === 'open' ? undefined : this.take();
    if (chunk !== undefined) return Promise.resolve({ value: chunk, done: false });
    if (this.error !== undefined) return this.rejectWith(this.error);
    if (this.state !== 'open') return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.pendingRead = { resolve };
    });
  }

  /** Stops reading, and ends a pending read. Unless the body has ended, the request is aborted in this tick. */
  return(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.state === 'open') {
      this.state = 'left';
      this.chunks = [];
      this.destroy();
      this.endPendingRead();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  /**
   * Ends the body from this side. The reader gets the failure or the signal's reason at once; buffered data is
   * dropped.
   */
  stop(failure: LLMError): void {
    if (this.state === 'open') this.chunks = [];
    this.fail(failure);
  }

  /** The entire body as UTF-8, without a byte order mark. May be called again. */
  text(): Promise<string> {
    this.collectedText ??= this.collect();
    return this.collectedText;
  }

  private async collect(): Promise<string> {
    this.isCollected = true;
    const { value: bytes } = await this.next();
    if (bytes === undefined) return '';
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    return bytes.toString('utf8', start);
  }

  private start(): void {
    this.isStarted = true;
    const declared = Number(this.message.headers['content-length'] ?? 0);
    if (declared > this.options.maxBytes) this.tooLarge();
    else this.source.on('data', (chunk: Buffer) => this.push(chunk));
  }

  /** All buffered chunks at once: vendors send many small ones, and each hand-over costs a promise. */
  private take(): Buffer | undefined {
    const chunks = this.chunks;
    if (chunks.length === 0) return undefined;
    this.chunks = [];
    this.bufferedBytes = 0;
    if (this.source.isPaused()) this.source.resume();
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  }

  private push(chunk: Buffer): void {
    if (this.state !== 'open') return;
    this.receivedBytes += chunk.byteLength;
    if (this.receivedBytes > this.options.maxBytes) {
      this.tooLarge();
      return;
    }
    const waiting = this.pendingRead;
    if (waiting !== undefined && !this.isCollected) {
      this.pendingRead = undefined;
      waiting.resolve({ value: chunk, done: false });
      return;
    }
    this.chunks.push(chunk);
    this.bufferedBytes += chunk.byteLength;
    if (this.bufferedBytes >= MAX_BUFFERED_BYTES && !this.isCollected) this.source.pause();
  }

  private end(): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.endPendingRead();
  }

  private endPendingRead(): void {
    if (this.pendingRead === undefined) return;
    const value = this.take();
    this.pendingRead.resolve(value === undefined ? { value, done: true } : { value, done: false });
    this.pendingRead = undefined;
  }

  /** Data received before the failure is still delivered. */
  private fail(error: LLMError): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.error = error;
    this.destroy();
    this.pendingRead?.resolve(this.rejectWith(error));
    this.pendingRead = undefined;
  }

  /** Prefers the signal's reason, by which callers recognise their own abort. */
  private rejectWith(error: LLMError): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.options.signal?.throwIfAborted();
      reject(error);
    });
  }

  private tooLarge(): void {
    this.stop(
      new LLMStreamError(`The response of ${this.options.host} is larger than ${this.options.maxBytes} bytes.`, {
        ...this.options.details,
        retryable: false,
      }),
    );
  }

  private onPrematureEnd(cause?: Error): void {
    if (this.state !== 'open') return;
    const details = { ...this.options.details, ...omitUndefined({ cause }) };
    this.fail(
      isLLMError(cause)
        ? cause
        : new LLMStreamError(`The response of ${this.options.host} ended prematurely.`, details),
    );
  }

  /** Closes the socket in this tick. Only a body that was read to its end returns its socket to the pool. */
  private destroy(): void {
    this.message.destroy();
    this.source.destroy();
  }
}

const nodeZlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** Each flush emits what can be decoded so far, so that streams are not delayed. A truncated body remains an error. */
const gunzip = (): Transform => nodeZlib().createGunzip({ flush: nodeZlib().constants.Z_SYNC_FLUSH });

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => nodeZlib().createInflate({ flush: nodeZlib().constants.Z_SYNC_FLUSH }),
  br: () => nodeZlib().createBrotliDecompress({ flush: nodeZlib().constants.BROTLI_OPERATION_FLUSH }),
};

/**
 * Decodes encodings that servers apply although none was requested. A decoding error destroys the message; an unknown
 * encoding becomes an error when the body is read.
 */
function decodeBody(message: IncomingMessage, details: LLMErrorDetails): Readable {
  const encoding = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return message;
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
  if (decoder === undefined) {
    message.destroy(
      new LLMStreamError('The response has an unsupported content encoding.', { ...details, retryable: false }),
    );
    return message;
  }
  // The decoder's own `error` event informs the reader.
  return pipeline(message, decoder, () => undefined);
}
