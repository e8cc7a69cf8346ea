/**
 * Reads the error body of any vendor: HTTP bodies, error events of streams, and the `error` of a failed response,
 * nested or flat.
 */
import { fieldsOf, isObject, readJson } from '../util/json';
import type { JsonObject } from '../types/VendorTypes';

export interface VendorErrorBody {
  /** The parsed body, if it is an object. */
  readonly root: JsonObject | undefined;
  /** The vendor's message, not yet made safe to show. */
  readonly message: string;
  /** Codes, types, reasons and statuses, verbatim, the most specific first. */
  readonly codes: readonly string[];
  /** The code that describes the error best. */
  readonly code: string | undefined;
  /** The HTTP status stated in the body. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The request field that the vendor objects to. */
  readonly param: string | undefined;
  /** google.rpc details. */
  readonly details: readonly unknown[];
  /** The tool call that a model wrote and the vendor could not parse (Groq's `tool_use_failed`). */
  readonly failedGeneration: string | undefined;
}

export function readVendorErrorBody(body: unknown): VendorErrorBody {
  return read(body, MOST_ENVELOPES);
}

/** Gateways put the upstream error, as JSON, into their own message. */
const MOST_ENVELOPES = 3;

/** @param envelopes how many nested errors to unwrap */
function read(body: unknown, envelopes: number): VendorErrorBody {
  const parsed = typeof body === 'string' ? parsedJson(body) : body;
  const root = isObject(parsed) ? parsed : Array.isArray(parsed) && isObject(parsed[0]) ? parsed[0] : undefined;
  if (root === undefined)
    return { ...NOTHING, message: typeof parsed === 'string' ? parsed : typeof body === 'string' ? body : '' };

  const error = errorOf(root);
  const details: readonly unknown[] = Array.isArray(error.details) ? error.details : [];
  // Azure's inner error and Anthropic's details are more specific than the fields around them.
  const precise = [codeOf(fieldsOf(error.details).error_code), codeOf(error.code), codeOf(root.code)];
  const ofMiniMax = error === root.base_resp ? `base_resp_${String(error.status_code)}` : undefined;
  const exact = [codeOf(fieldsOf(error.innererror).code), ...details.flatMap(reasonsOf), ofMiniMax, ...precise];
  const broad = [codeOf(error.type), codeOf(error.error_type), codeOf(error.status), codeOf(root.type)];
  const codes = [...exact, ...broad].filter((each) => each !== undefined && !ENVELOPES.has(each)) as string[];
  const open = (message: string): VendorErrorBody | undefined =>
    envelopes > 0 && isObject(parsedJson(message)) ? read(message, envelopes - 1) : undefined;
  const messages = textsOf(root, error).map((message) => ({ message, inner: open(message) }));
  const inners = messages.flatMap(({ inner }) => inner ?? []);
  return {
    root,
    message: messages.map(({ message, inner }) => inner?.message || message).join(': '),
    codes: [...inners.flatMap((inner) => inner.codes), ...codes],
    code:
      [...precise, ...broad].find((each) => each !== undefined && !ENVELOPES.has(each)) ??
      numeral(error.code) ??
      numeral(error.status_code) ??
      inners[0]?.code,
    status:
      statusOf(error.code) ??
      statusOf(error.status_code) ??
      statusOf(error.status) ??
      statusOf(root.status_code) ??
      statusOf(root.statusCode),
    requestId:
      text(root.request_id) ??
      text(error.request_id) ??
      (error === root ? undefined : text(root.id)) ??
      idInText(text(error.message)),
    param: text(error.param),
    details,
    failedGeneration: text(error.failed_generation),
  };
}

const NOTHING: Omit<VendorErrorBody, 'message'> = {
  root: undefined,
  codes: [],
  code: undefined,
  status: undefined,
  requestId: undefined,
  param: undefined,
  details: [],
  failedGeneration: undefined,
};

type Fields = Readonly<Record<string, unknown>>;

/** Types that mean no more than "error". */
const ENVELOPES: ReadonlySet<string> = new Set(['error', 'response.failed', 'response.error']);

/**
 * The object that holds message and code: `error`, a failed response's `error`, the first of `errors`, MiniMax's
 * `base_resp`, or the body itself.
 */
function errorOf(root: Fields): Fields {
  const failed = fieldsOf(root.response).error;
  const first: unknown = Array.isArray(root.errors) ? root.errors[0] : undefined;
  return [root.error, failed, first, root.base_resp].find(isObject) ?? root;
}

/**
 * xAI puts the message itself into `error`, FastAPI servers into `detail`; OpenRouter wraps the upstream error in
 * `metadata.raw`.
 */
function textsOf(root: Fields, error: Fields): readonly string[] {
  const message =
    text(error.message) ??
    text(error.status_msg) ??
    text(root.error) ??
    text(root.message) ??
    detailText(root.detail) ??
    text(error.detail) ??
    structured(error.message) ??
    text(error.type);
  const more = text(fieldsOf(error.metadata).raw) ?? text(error.details);
  return [message, more].filter((each) => each !== undefined);
}

/** Mistral puts a list of violations into the message. Anything else is shown unchanged. */
function structured(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  return detailText(fieldsOf(message).detail) ?? JSON.stringify(message);
}

/** FastAPI's `detail` is a string or a list of violations. */
function detailText(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return text(detail) ?? text(fieldsOf(detail).message);
  const messages = detail.map((each) => text(fieldsOf(each).msg)).filter((each) => each !== undefined);
  return messages.length > 0 ? messages.join('; ') : undefined;
}

/**
 * google.rpc.ErrorInfo has a reason. An exhausted daily quota is recognizable only by the ids in
 * google.rpc.QuotaFailure.
 */
function reasonsOf(detail: unknown): (string | undefined)[] {
  const fields = fieldsOf(detail);
  const violations: readonly unknown[] = Array.isArray(fields.violations) ? fields.violations : [];
  const daily = violations.some((each) => /PerDay/.test(text(fieldsOf(each).quotaId) ?? ''));
  return [daily ? 'QUOTA_PER_DAY' : undefined, codeOf(fields.reason)];
}

/** Some vendors state the request id only in the message. */
function idInText(message: string | undefined): string | undefined {
  return message === undefined ? undefined : /\brequest id:? (req_\w+)/i.exec(message)?.[1];
}

/** Azure and Gemini put the HTTP status into `code`, as a number or as digits. */
function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && !/^\d+$/.test(value) ? value : undefined;
}

function numeral(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'string' ? String(value) || undefined : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parsedJson(body: string): unknown {
  return /^\s*[{["]/.test(body) ? readJson(body) : undefined;
}
