/** Downloads an image or a file that a user named by URL, to be sent inline to a vendor that fetches no URLs. */
import { LLMConnectionError, LLMInvalidRequestError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import { safeMessage } from '../../../domain/errors/safeText';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../domain/types/VendorTypes';
import { createGuardedFetch } from './guardedFetch';
import type { GuardedFetch } from './guardedFetch';
import type { GuardedResponse } from './GuardedResponse';
import { parseUrl } from '../../../domain/util/parseUrl';

export interface DownloadOptions {
  readonly maxBytes: number;
  /** Milliseconds for all redirects and the body together. */
  readonly timeout: number;
  /** Accepted media types, `image/png` or `image/*`. */
  readonly contentTypes: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** Called with the size of every chunk; what it throws ends the download. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly allowPrivateHosts: boolean;
  /** A transport to share, which has its own rule on private hosts. Default: one for this download alone. */
  readonly fetch?: GuardedFetch | undefined;
}

export interface Download {
  readonly bytes: Uint8Array;
  /** Media type in lower case, without parameters. */
  readonly contentType: string;
}

const MAX_REDIRECTS = 5;

/**
 * Checks every redirect like the first URL. Sends no cookie, key or referrer.
 * @throws LLMInvalidRequestError for URLs, responses and media types that are not accepted, LLMStreamError for a body
 *   that is too large or truncated, LLMTimeoutError, LLMConnectionError, the signal's reason
 */
export async function guardedDownload(url: string, options: DownloadOptions): Promise<Download> {
  if (options.fetch !== undefined) return download(url, options.fetch, options);
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: options.allowPrivateHosts });
  try {
    return await download(url, fetch, options);
  } finally {
    fetch.close();
  }
}

async function download(url: string, fetch: GuardedFetch, options: DownloadOptions): Promise<Download> {
  const response = await followRedirects(url, fetch, options);
  try {
    const contentType = requireMediaType(requireOk(response), options.contentTypes);
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) {
      options.onBytes?.(chunk.byteLength);
      chunks.push(chunk);
    }
    return { bytes: Buffer.concat(chunks), contentType };
  } finally {
    await response.body.return();
  }
}

async function followRedirects(first: string, fetch: GuardedFetch, options: DownloadOptions): Promise<GuardedResponse> {
  const { timeout, contentTypes, signal, maxBytes: maxResponseBytes } = options;
  const deadline = performance.now() + timeout;
  const headers = { accept: contentTypes.join(', ') };
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const remaining = Math.ceil(deadline - performance.now());
    if (remaining <= 0) throw new LLMTimeoutError(`The download took longer than ${timeout} ms.`);
    const response = await fetch(url, { headers, call: { signal, timeout: remaining, maxResponseBytes } });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body.return();
    url = resolveRedirect(location, response.url);
  }
  throw new LLMInvalidRequestError(`The download was redirected more than ${MAX_REDIRECTS} times.`);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function resolveRedirect(location: string, base: string): string {
  const url = parseUrl(location, base);
  if (url === undefined) throw new LLMInvalidRequestError('The download was redirected to an invalid URL.');
  return url.href;
}

function requireOk(response: GuardedResponse): GuardedResponse {
  const { status } = response;
  if (status === 200) return response;
  const message = `The download failed with status ${status}.`;
  throw status >= 500 || status === 429
    ? new LLMConnectionError(message, { status })
    : new LLMInvalidRequestError(message, { status });
}

function requireMediaType(response: GuardedResponse, accepted: readonly string[]): string {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const family = `${type.split('/', 1)[0] ?? ''}/*`;
  if (type !== '' && accepted.some((each) => each === type || each === family)) return type;
  throw new LLMInvalidRequestError(
    `The download has the media type ${type === '' ? '(none)' : safeMessage(type)}. Expected one of: ${accepted.join(', ')}.`,
  );
}
