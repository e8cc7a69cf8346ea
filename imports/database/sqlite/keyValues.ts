/**
 * Values of documents as SQLite orders them: null, numbers, texts by code point, then bytes. The types that SQLite
 * lacks are bytes that start with MongoDB's rank of the type.
 */
import { isRecord } from '../query/fieldPaths';
import { LargeText } from '../query/LargeText';
import type { SqlValue } from './nodeSqlite';

/** Among the elements of an array, where SQLite's NULL cannot be. */
export const NULL_ELEMENT = Uint8Array.of(1);
const OBJECT = Uint8Array.of(4);
/** In place of an array, or of the values that a path leads to through an array. */
const ARRAY = Uint8Array.of(5);
const BOOLEANS = [Uint8Array.of(6, 0), Uint8Array.of(6, 1)] as const;
const DATE_RANK = 7;

/** The least value of a type, and the least one of the types after it: the values between are those of the type. */
export const TYPE_BOUNDS = {
  number: [-Infinity, ''],
  string: ['', Uint8Array.of(0)],
  date: [Uint8Array.of(DATE_RANK), Uint8Array.of(DATE_RANK + 1)],
} as const satisfies Record<string, readonly [SqlValue, SqlValue]>;

/** Converts any value of a document to the value that an index holds for it. */
export function toKeyValue(value: unknown): SqlValue {
  switch (typeof value) {
    case 'number':
    case 'string':
      return value;
    case 'boolean':
      return BOOLEANS[value ? 1 : 0];
    default:
      if (value === null || value === undefined) return null;
      if (value instanceof Date) return toDateKey(value);
      if (value instanceof LargeText) return value.read();
      return Array.isArray(value) ? ARRAY : OBJECT;
  }
}

export function isSameKey(left: SqlValue, right: SqlValue): boolean {
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  return left === right;
}

export interface PathKey {
  readonly key: SqlValue;
  /** If the path leads to an array or through one: what conditions are tested on. */
  readonly elements: readonly SqlValue[];
}

/** The key of what a path leads to. */
export function keyAtPath(document: unknown, parts: readonly string[]): PathKey {
  let value = document;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (Array.isArray(value)) return { key: ARRAY, elements: elementsOf(value, parts, at) };
    if (!isRecord(value) || !Object.hasOwn(value, part)) return MISSING;
    value = value[part];
  }
  if (Array.isArray(value)) return { key: ARRAY, elements: elementsOf(value, parts, parts.length) };
  return { key: toKeyValue(value), elements: [] };
}

const MISSING: PathKey = { key: null, elements: [] };

/** Each once. */
function elementsOf(value: readonly unknown[], parts: readonly string[], at: number): readonly SqlValue[] {
  const elements: SqlValue[] = [];
  for (const tested of testedValues(value, parts, at)) {
    const key = toKeyValue(tested) ?? NULL_ELEMENT;
    if (!elements.some((other) => isSameKey(other, key))) elements.push(key);
  }
  return elements;
}

function testedValues(value: unknown, parts: readonly string[], at: number): readonly unknown[] {
  const part = parts[at];
  if (part === undefined) return Array.isArray(value) ? value : [value];
  if (Array.isArray(value)) return value.filter(isRecord).flatMap((element) => testedValues(element, parts, at));
  return isRecord(value) && Object.hasOwn(value, part) ? testedValues(value[part], parts, at + 1) : [undefined];
}

const SIGN = 1n << 63n;

/** Eight bytes that order as the time does, also before 1970. */
function toDateKey(date: Date): Uint8Array {
  const key = Buffer.alloc(9);
  key[0] = DATE_RANK;
  key.writeBigUInt64BE(BigInt.asUintN(64, BigInt(date.getTime())) ^ SIGN, 1);
  return key;
}
