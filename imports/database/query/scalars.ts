/** The values that selectors compare: those that all databases store, order and find in the same way. */
import type { Scalar } from '../DocumentCollection';
import { invalidInput } from './fieldPaths';

/**
 * Makes an untrusted value (from a request, a token, a client's id) safe for a selector. If a store writes
 * `{ token: value }` with whatever a caller sent, `{ $gt: '' }` is read as an operator and matches every token; this
 * lets only scalars through. The collections themselves apply the same rule to the elements of `$in` and `$nin`.
 * @throws LLMInvalidRequestError with `path`
 */
export function asScalar(value: unknown, path: string): Scalar {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'number':
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      break;
    case 'boolean':
      return value;
    default:
      if (value === null) return null;
      if (value instanceof Date && Number.isFinite(value.getTime())) return new Date(value.getTime());
  }
  throw invalidInput(path, 'must be a string, a finite number, a boolean, null or a valid date');
}

export function isSameScalar(left: unknown, right: Scalar): boolean {
  if (right === null) return left === null || left === undefined;
  if (right instanceof Date) return left instanceof Date && left.getTime() === right.getTime();
  return left === right;
}

/** MongoDB's sort order: by type first. A missing field equals null, and all objects are equal. */
export function compareScalars(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const byType = typeRank(left) - typeRank(right);
  if (byType !== 0) return byType;
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return 0;
}

/** MongoDB's order of types: null, numbers, strings, objects, arrays, booleans, dates. */
function typeRank(value: unknown): number {
  if (value === null || value === undefined) return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'string') return 3;
  if (typeof value === 'boolean') return 6;
  if (value instanceof Date) return 7;
  return Array.isArray(value) ? 5 : 4;
}

/** Compares by code point, as MongoDB does. UTF-16 order differs: there, characters above U+FFFF come before U+E000. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    if (isSurrogate(a) === isSurrogate(b)) return a - b;
    return isSurrogate(a) ? 1 : -1;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
