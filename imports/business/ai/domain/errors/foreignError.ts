/** Maps what providers from outside this code base throw, in the forms that HTTP clients and SDKs use. */
import { fieldsOf, isObject } from '../util/json';
import type { JsonObject } from '../types/VendorTypes';
import { LLMConnectionError, LLMTimeoutError } from './LLMErrors';
import type { LLMError } from './LLMErrors';
import { vendorError } from './vendorErrors';

/**
 * @param thrown an error or object with `status` or `statusCode` (or those of its `response`), `headers` (`Headers` or
 *   an object) and `retryAfter`; or the error of a connection
 * @param provider its name, for the message and for `vendor`
 * @returns undefined for anything else, which is a bug of the provider
 */
export function foreignError(thrown: unknown, provider: string): LLMError | undefined {
  const fields = fieldsOf(thrown);
  const response = fieldsOf(fields.response);
  const status = [fields.status, fields.statusCode, response.status, response.statusCode].map(statusIn).find(isDefined);
  if (status === undefined) return connectionError(fields, provider, thrown);
  return vendorError({
    vendor: provider,
    status,
    body: bodyOf(fields, response),
    header: (name) => headerIn(fields.headers, name) ?? headerIn(response.headers, name) ?? retryField(fields, name),
    cause: thrown,
  });
}

function statusIn(value: unknown): number | undefined {
  const status = Number(typeof value === 'string' || typeof value === 'number' ? value : undefined);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

/** OpenAI's and Anthropic's SDKs have the parsed body in `error`, axios in `response.data`. */
function bodyOf(fields: JsonObject, { data }: JsonObject): unknown {
  if (isObject(fields.error)) return 'error' in fields.error ? fields.error : { error: fields.error };
  if (isObject(data) || typeof data === 'string') return data;
  if (typeof fields.body === 'string') return fields.body;
  const { message, code, type } = fields;
  return { error: { message, code, type } };
}

function headerIn(headers: unknown, name: string): string | undefined {
  if (!isObject(headers)) return undefined;
  if (hasGetter(headers)) return textOf(headers.get(name));
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return textOf(entry?.[1]);
}

/** `Headers`, of any implementation. */
function hasGetter(headers: object): headers is { get(name: string): unknown } {
  return 'get' in headers && typeof headers.get === 'function';
}

/** Properties of the error itself that stand for a header. */
function retryField(fields: JsonObject, name: string): string | undefined {
  if (name === 'retry-after') return textOf(fields['retry-after'] ?? fields.retryAfter ?? fields.retry_after);
  return name === 'retry-after-ms' ? textOf(fields['retry-after-ms'] ?? fields.retryAfterMs) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** https://nodejs.org/api/errors.html#common-system-errors, and undici's own */
const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
]);
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** `fetch` has the system's error in `cause`. */
function connectionError(fields: JsonObject, vendor: string, cause: unknown): LLMError | undefined {
  const code = fields.code ?? fieldsOf(fields.cause).code;
  if (TIMEOUT_CODES.has(code) || fields.name === 'TimeoutError')
    return new LLMTimeoutError(`The provider "${vendor}" did not respond in time.`, { vendor, cause });
  if (!CONNECTION_CODES.has(code)) return undefined;
  return new LLMConnectionError(`The connection of the provider "${vendor}" failed (${String(code)}).`, {
    vendor,
    cause,
  });
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
