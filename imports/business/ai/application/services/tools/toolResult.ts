/** The outcome of a tool call as text for the model: bounded in size, and never a stack trace. */
import type { ToolCall } from '../../../domain/entities/Tool';
import { ToolError } from '../../../domain/errors/LLMErrors';
import type { ExternalResult } from './decisions';

/** Characters of an error message. */
const MAX_MESSAGE = 2_000;

/**
 * A submitted result in the form in which it is stored, so that it is the same in whichever process executes the run.
 * An output that is not serializable becomes an error, as it does when a tool returns it.
 */
export function toStorableResult(result: ExternalResult): ExternalResult {
  if ('error' in result) return { error: result.error };
  if (typeof result.output === 'string') return { output: result.output };
  try {
    return { output: JSON.parse(serializeToolResult(result.output, Infinity)) as unknown };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { error: error.message };
  }
}

/**
 * Whether the call has settled with this result.
 * @param maxBytes as for `serializeToolResult`
 */
export function hasSettledWith(call: ToolCall, result: ExternalResult, maxBytes: number): boolean {
  if ('error' in result) return call.state === 'failed' && call.error.message === errorMessage(new Error(result.error));
  return call.state === 'completed' && call.result === serializeToolResult(result.output, maxBytes);
}

/**
 * Strings are left as they are, everything else becomes JSON. Values that JSON would silently drop are refused.
 * @param maxBytes UTF-8 bytes; a longer text is truncated, with a note that it was
 * @throws ToolError `unserialisable-result`
 */
export function serializeToolResult(value: unknown, maxBytes: number): string {
  return truncate(typeof value === 'string' ? value.toWellFormed() : toJson(value), maxBytes);
}

/** The message of anything that can be thrown. */
export function errorMessage(thrown: unknown): string {
  const message = readMessage(thrown).trim().toWellFormed();
  return message === '' ? 'The tool failed without a message.' : message.slice(0, MAX_MESSAGE);
}

function toJson(value: unknown): string {
  if (value === undefined) return 'null';
  assertNotStream(value);
  try {
    // Without a replacer, JSON is several times faster to write.
    return isPlainData(value, MAX_PLAIN_DEPTH) ? JSON.stringify(value) : JSON.stringify(value, jsonReplacer);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw unserializable(cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause), cause);
  }
}

const MAX_PLAIN_DEPTH = 16;

/** Whether the replacer would change nothing. Deep and circular values are left to it. */
function isPlainData(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return true;
    case 'object': {
      if (value === null) return true;
      if (depth === 0) return false;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
      for (const key in value) if (!isPlainData(value[key as keyof typeof value], depth - 1)) return false;
      return true;
    }
    default:
      return false;
  }
}

function assertNotStream(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const isStream = 'getReader' in value || 'pipe' in value || Symbol.asyncIterator in value;
  if (isStream) throw unserializable('It is a stream.');
}

function jsonReplacer(_key: string, value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw unserializable(`It contains a ${typeof value}.`);
  if (value instanceof Promise) throw unserializable('It contains a promise. Await it in the tool.');
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { error: errorMessage(value) };
  return value;
}

function unserializable(reason: string, cause?: unknown): ToolError {
  return new ToolError('unserialisable-result', `The tool ran, but its result is not serializable as JSON: ${reason}`, {
    cause,
  });
}

function truncate(text: string, maxBytes: number): string {
  // A UTF-16 code unit has at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const size = Buffer.byteLength(text);
  if (size <= maxBytes) return text;
  // A character split by the cut decodes to U+FFFD and is dropped.
  const head = Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return `${head}\n[cut: the first ${Buffer.byteLength(head)} of ${size} bytes are shown]`;
}

function readMessage(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string')
      return thrown.message;
    if (thrown === undefined || thrown === null) return '';
    if (typeof thrown === 'object' || typeof thrown === 'function') return describeObject(thrown);
    // All that remains of `unknown`.
    const primitive = thrown as string | number | bigint | boolean | symbol;
    return String(primitive);
  } catch {
    // Getters, proxies and cycles may throw while the thrown value is read.
    return 'The tool threw a value that could not be read.';
  }
}

function describeObject(thrown: object): string {
  // A function has no JSON representation.
  const json = JSON.stringify(thrown) as string | undefined;
  return json ?? `The tool threw a ${typeof thrown}.`;
}
