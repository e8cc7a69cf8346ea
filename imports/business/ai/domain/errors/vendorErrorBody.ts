/**
 * Reads any vendor's error answer: HTTP bodies, error events of streams, and the `error` of a failed response,
 * nested or flat.
 */
import { fieldsOf, isObject } from '../json';
import type { JsonObject } from '../types/VendorTypes';

export interface VendorErrorBody {
  /** The parsed body, where it is an object. */
  readonly whole: JsonObject | undefined;
  /** What the vendor says, not yet made safe. */
  readonly message: string;
  /** Codes, types, reasons and statuses, the most exact first, verbatim. */
  readonly words: readonly string[];
  /** The word that names the error best. */
  readonly code: string | undefined;
  /** The HTTP status that the body itself names. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Which request field the vendor complains about. */
  readonly param: string | undefined;
  /** google.rpc details. */
  readonly details: readonly unknown[];
  /** The call that a model wrote and the vendor refused to parse (Groq's `tool_use_failed`). */
  readonly failedGeneration: string | undefined;
}

export function readVendorErrorBody(body: unknown): VendorErrorBody {
  return read(body, MOST_ENVELOPES);
}

/** Gateways put the error of the host behind them, as JSON, into the message of their own. */
const MOST_ENVELOPES = 3;

/** @param envelopes how many errors inside this one are opened */
function read(body: unknown, envelopes: number): VendorErrorBody {
  const parsed = typeof body === 'string' ? parsedJson(body) : body;
  const whole = isObject(parsed) ? parsed : Array.isArray(parsed) && isObject(parsed[0]) ? parsed[0] : undefined;
  if (whole === undefined)
    return { ...NOTHING, message: typeof parsed === 'string' ? parsed : typeof body === 'string' ? body : '' };

  const error = errorOf(whole);
  const details: readonly unknown[] = Array.isArray(error.details) ? error.details : [];
  // Azure's inner error and Anthropic's details name the case, the fields around them its kind.
  const precise = [word(fieldsOf(error.details).error_code), word(error.code), word(whole.code)];
  const exact = [word(fieldsOf(error.innererror).code), ...details.flatMap(reasonsOf), ...precise];
  const broad = [word(error.type), word(error.error_type), word(error.status), word(whole.type)];
  const words = [...exact, ...broad].filter((each) => each !== undefined && !ENVELOPES.has(each)) as string[];
  const open = (said: string): VendorErrorBody | undefined =>
    envelopes > 0 && isObject(parsedJson(said)) ? read(said, envelopes - 1) : undefined;
  const told = textsOf(whole, error).map((said) => ({ said, inner: open(said) }));
  const inners = told.flatMap(({ inner }) => inner ?? []);
  return {
    whole,
    message: told.map(({ said, inner }) => inner?.message || said).join(': '),
    words: [...inners.flatMap((inner) => inner.words), ...words],
    code:
      [...precise, ...broad].find((each) => each !== undefined && !ENVELOPES.has(each)) ??
      numeral(error.code) ??
      inners[0]?.code,
    status:
      statusOf(error.code) ??
      statusOf(error.status_code) ??
      statusOf(error.status) ??
      statusOf(whole.status_code) ??
      statusOf(whole.statusCode),
    requestId:
      text(whole.request_id) ??
      text(error.request_id) ??
      (error === whole ? undefined : text(whole.id)) ??
      idInText(text(error.message)),
    param: text(error.param),
    details,
    failedGeneration: text(error.failed_generation),
  };
}

const NOTHING: Omit<VendorErrorBody, 'message'> = {
  whole: undefined,
  words: [],
  code: undefined,
  status: undefined,
  requestId: undefined,
  param: undefined,
  details: [],
  failedGeneration: undefined,
};

type Fields = Readonly<Record<string, unknown>>;

/** Types that say only "here comes an error". */
const ENVELOPES: ReadonlySet<string> = new Set(['error', 'response.failed', 'response.error']);

/**
 * The object that holds message and code: `error`, a failed response's `error`, the first of `errors`, or the body
 * itself.
 */
function errorOf(whole: Fields): Fields {
  const failed = fieldsOf(whole.response).error;
  const first: unknown = Array.isArray(whole.errors) ? whole.errors[0] : undefined;
  return [whole.error, failed, first].find(isObject) ?? whole;
}

/**
 * xAI puts the text itself into `error`, FastAPI hosts into `detail`, OpenRouter wraps another host's words in
 * `metadata.raw`.
 */
function textsOf(whole: Fields, error: Fields): readonly string[] {
  const said =
    text(error.message) ??
    text(whole.error) ??
    text(whole.message) ??
    detailText(whole.detail) ??
    text(error.detail) ??
    structured(error.message) ??
    text(error.type);
  const more = text(fieldsOf(error.metadata).raw) ?? text(error.details);
  return [said, more].filter((each) => each !== undefined);
}

/** Mistral puts a list of violations into the message; whatever else stands there is shown as it is. */
function structured(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  return detailText(fieldsOf(message).detail) ?? JSON.stringify(message);
}

/** FastAPI's `detail` is a text or a list of violations. */
function detailText(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return text(detail) ?? text(fieldsOf(detail).message);
  const messages = detail.map((each) => text(fieldsOf(each).msg)).filter((each) => each !== undefined);
  return messages.length > 0 ? messages.join('; ') : undefined;
}

/** google.rpc.ErrorInfo has a reason; an exhausted daily quota is named only by the ids in google.rpc.QuotaFailure. */
function reasonsOf(detail: unknown): (string | undefined)[] {
  const fields = fieldsOf(detail);
  const violations: readonly unknown[] = Array.isArray(fields.violations) ? fields.violations : [];
  const daily = violations.some((each) => /PerDay/.test(text(fieldsOf(each).quotaId) ?? ''));
  return [daily ? 'QUOTA_PER_DAY' : undefined, word(fields.reason)];
}

/** Some vendors print the request id only in the sentence. */
function idInText(message: string | undefined): string | undefined {
  return message === undefined ? undefined : /\brequest id:? (req_\w+)/i.exec(message)?.[1];
}

/** Azure and Gemini put the HTTP status where others put the code, as a number or as its digits. */
function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && !/^\d+$/.test(value) ? value : undefined;
}

function numeral(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'string' ? String(value) || undefined : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parsedJson(body: string): unknown {
  if (!/^\s*[{["]/.test(body)) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON after all: the caller reads it as text.
    return undefined;
  }
}
