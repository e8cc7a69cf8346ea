/** Field names and dotted paths: which ones a document may have, and which values a path leads to. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { LargeText, readTexts } from './LargeText';

/** The error for input that the databases don't support. The message is the quoted path followed by the problem. */
export function invalidInput(path: string, problem: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${path}" ${problem}.`, { path });
}

/** @throws LLMInvalidRequestError for a name that databases give another meaning: an operator, a path, a prototype */
export function checkFieldName(name: string, path: string): void {
  if (!isFieldName(name))
    throw invalidInput(path, `has a field whose name cannot be stored: ${JSON.stringify(name.slice(0, 60))}`);
}

export function isFieldName(name: string): boolean {
  return name !== '' && name !== '__proto__' && !/[$.\0]/.test(name) && name.isWellFormed();
}

/**
 * Splits a dotted path into field names. Array positions are not supported, so a name of digits alone is rejected.
 * @param location where the path was given, for the error
 * @throws LLMInvalidRequestError
 */
export function splitPath(path: string, location: string): readonly string[] {
  const parts = path.split('.');
  for (const part of parts) {
    checkFieldName(part, location);
    if (/^\d+$/.test(part)) throw invalidInput(location, `cannot address an array position: ${path.slice(0, 60)}`);
  }
  return parts;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof LargeText)
  );
}

/** Excludes class instances, which a copy of their fields would not preserve. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The value that a path leads to. Undefined if the path ends early, or leads through an array. */
export function valueAtPath(document: unknown, parts: readonly string[]): unknown {
  let value = document;
  for (const part of parts) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return typeof value === 'object' ? readTexts(value) : value;
}

/**
 * The values that a path leads to: one, `undefined` if the path ends early, or one per object of an array on the way.
 * An array at the end is one value.
 */
export function valuesAt(value: unknown, parts: readonly string[]): readonly unknown[] {
  const [part, ...rest] = parts;
  if (part === undefined) return [readTexts(value)];
  if (Array.isArray(value)) return value.filter(isRecord).flatMap((element) => valuesAt(element, parts));
  return isRecord(value) && Object.hasOwn(value, part) ? valuesAt(value[part], rest) : [undefined];
}
