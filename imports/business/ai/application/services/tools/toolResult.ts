/** What the model is told of a tool's outcome: a text, bounded, never a stack. */
import { ToolError } from '../../../domain/errors/LLMErrors';

const MAX_MESSAGE = 2_000;

/**
 * Strings stand as they are, everything else is JSON; what JSON would silently lose is refused.
 * @param maxBytes UTF-8 bytes that are kept; the rest is cut and said to be cut
 * @throws ToolError `unserialisable-result`
 */
export function serializeToolResult(value: unknown, maxBytes: number): string {
  return cut(typeof value === 'string' ? value.toWellFormed() : toJson(value), maxBytes);
}

/** The message of anything that can be thrown. */
export function errorMessage(thrown: unknown): string {
  const message = readMessage(thrown).trim().toWellFormed();
  return message === '' ? 'the tool failed without a message' : message.slice(0, MAX_MESSAGE);
}

function toJson(value: unknown): string {
  if (value === undefined) return 'null';
  refuseStream(value);
  try {
    return JSON.stringify(value, jsonReplacer);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw unserialisable(cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause), cause);
  }
}

function refuseStream(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const isStream = 'getReader' in value || 'pipe' in value || Symbol.asyncIterator in value;
  if (isStream) throw unserialisable('it is a stream');
}

function jsonReplacer(_key: string, value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw unserialisable(`it holds a ${typeof value}`);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { error: errorMessage(value) };
  return value;
}

function unserialisable(reason: string, cause?: unknown): ToolError {
  return new ToolError('unserialisable-result', `The tool ran, but its result cannot be written as JSON: ${reason}`, {
    cause,
  });
}

function cut(text: string, maxBytes: number): string {
  const size = Buffer.byteLength(text);
  if (size <= maxBytes) return text;
  // A character that the cut splits decodes to U+FFFD; it goes.
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
    // Nothing else is left of `unknown`.
    const primitive = thrown as string | number | bigint | boolean | symbol;
    return String(primitive);
  } catch {
    // A thrown value may be a trap of its own (getters, proxies, cycles); that it was thrown is what counts.
    return 'the tool threw a value that cannot be read';
  }
}

function describeObject(thrown: object): string {
  // A function has no JSON at all.
  const json = JSON.stringify(thrown) as string | undefined;
  return json ?? `the tool threw a ${typeof thrown}`;
}
