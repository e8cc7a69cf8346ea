/** One attempt: resolves with a successful response, and throws everything else as a typed error. */
import { isLLMError, LLMAuthError, LLMInvalidRequestError, LLMServerError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { REDACTED } from '../../domain/errors/safeText';
import { vendorError } from '../../domain/errors/vendorErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits } from '../../domain/types/VendorTypes';
import type { GuardedCall } from './http/HttpExchange';
import type { GuardedResponse } from './http/GuardedResponse';

export interface CallOptions {
  readonly credential: Credential | undefined;
  /** Whose call it is, for a fair share of the sockets. */
  readonly userId?: string | undefined;
  readonly stream?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeout?: number | undefined;
  /** Default: the transport's limit. */
  readonly maxResponseBytes?: number | undefined;
}

/**
 * @param send sends the request within the limits of the given call
 * @throws LLMError for error statuses and transport failures, the signal's reason when aborted
 */
export async function sendCall(
  vendor: string,
  options: CallOptions,
  limits: TransportLimits,
  send: (call: GuardedCall) => Promise<GuardedResponse>,
): Promise<GuardedResponse> {
  const { credential, userId, stream, signal, timeout, maxResponseBytes } = options;
  signal?.throwIfAborted();
  if (credential?.token.trim() === '') throw new LLMAuthError('The credential is empty.', { vendor });
  // A stream that never starts counts as one that stalls.
  const headersTimeout = stream === true ? limits.streamIdleTimeout : undefined;
  const call = { vendor, userId, signal, timeout, headersTimeout, maxResponseBytes };
  let response: GuardedResponse;
  try {
    response = await send(call);
  } catch (error) {
    signal?.throwIfAborted();
    if (isLLMError(error)) throw error;
    throw unsentError(vendor, error);
  }
  const secret = secretOf(credential);
  if (secret !== undefined) response.maskInHeaders(secret);
  if (!response.ok) throw await errorFrom(vendor, response, options);
  return response;
}

/** The request was never sent. Neither message nor cause is passed on: they may quote headers, including keys. */
function unsentError(vendor: string, error: unknown): LLMError {
  if (isInvalidHead(error))
    return new LLMInvalidRequestError('The request could not be built: its URL or a header is invalid.', { vendor });
  const name = error instanceof Error ? error.name : typeof error;
  const code = codeOf(error);
  return new LLMServerError(
    `The request to "${vendor}" could not be built or sent: ${name}${code === undefined ? '' : ` (${code})`}.`,
    { vendor, retryable: false },
  );
}

/** The codes that `URL` and `node:http` give to an invalid address or header. */
const INVALID_HEAD_CODES: ReadonlySet<string> = new Set([
  'ERR_INVALID_URL',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_UNESCAPED_CHARACTERS',
]);

/** The class `Headers`, which the SDKs use, throws errors without a code. */
function isInvalidHead(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false;
  const code = codeOf(error);
  return code === undefined
    ? /^Headers?\b|\bheader (?:name|value)\b/i.test(error.message)
    : INVALID_HEAD_CODES.has(code);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

async function errorFrom(
  vendor: string,
  response: GuardedResponse,
  { credential, signal }: CallOptions,
): Promise<LLMError> {
  const details = {
    vendor,
    status: response.status,
    headers: response.passthroughHeaders,
    header: (name: string) => response.header(name),
  };
  const secret = secretOf(credential);
  try {
    const body = await response.text();
    return vendorError({ ...details, body: secret === undefined ? body : body.replaceAll(secret, REDACTED) });
  } catch (cause) {
    signal?.throwIfAborted();
    // The status alone suffices; the cause records why the body could not be read.
    return vendorError({ ...details, body: '', cause });
  }
}

/**
 * Vendors quote the key that they reject, in forms that no pattern covers. Shorter tokens could be ordinary words, and
 * stay.
 */
function secretOf(credential: Credential | undefined): string | undefined {
  return credential === undefined || credential.token.length < 8 ? undefined : credential.token;
}
