/** The values that selectors compare: what all three stores keep, order and find in the same way. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';

export type Scalar = string | number | boolean | null | Date;

/**
 * The way for a value from outside (a request, a token, a client's id) into a selector. Where a store writes `{
 * token: value }` and `value` is whatever a caller sent, `{ $gt: '' }` would be read as an operator and match every
 * token; this lets nothing but a scalar through. Elements of `$in` and `$nin` are held to the same rule by the
 * adapters themselves.
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
  throw new LLMInvalidRequestError(`${path} takes a string, a finite number, a boolean, null or a valid date`, {
    path,
  });
}

export function isSameScalar(left: unknown, right: Scalar): boolean {
  if (right === null) return left === null || left === undefined;
  if (right instanceof Date) return left instanceof Date && left.getTime() === right.getTime();
  return left === right;
}

/**
 * Where the values of one type stand in a sort, by type first, as MongoDB has it; a missing field counts as null,
 * objects are all alike.
 */
export function compareScalars(left: unknown, right: unknown): number {
  const byType = typeRank(left) - typeRank(right);
  if (byType !== 0) return byType;
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return 0;
}

/** The order of MongoDB's types: null, numbers, text, objects, arrays, booleans, dates. */
function typeRank(value: unknown): number {
  if (value === null || value === undefined) return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'string') return 3;
  if (typeof value === 'boolean') return 6;
  if (value instanceof Date) return 7;
  return Array.isArray(value) ? 5 : 4;
}

/**
 * By code point: UTF-16 puts the characters above U+FFFF before U+E000, the bytes that MongoDB compares put them
 * after.
 */
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
