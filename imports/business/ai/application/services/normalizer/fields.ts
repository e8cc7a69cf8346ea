/** Checks of single fields, each of which says what would be right. */
import { describe, formatStep, isRecord, wrong } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';

export function requiredText(source: PlainRecord, key: string, path: string): string {
  const value = source[key];
  if (typeof value !== 'string') throw wrong(`${path}.${key}`, `must be a string, not ${describe(value)}`);
  return value;
}

/** An id or a name: a string that says something. */
export function requiredName(source: PlainRecord, key: string, path: string): string {
  const value = requiredText(source, key, path);
  if (value === '') throw wrong(`${path}.${key}`, 'must not be empty');
  return value;
}

/** Vendors write `null` where the inner language leaves a field out. */
export function optionalText(source: PlainRecord, key: string, path: string): string | undefined {
  const value = source[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string')
    throw wrong(`${path}.${key}`, `must be a string where it is given, not ${describe(value)}`);
  return value;
}

export function optionalBoolean(source: PlainRecord, key: string, path: string): boolean | undefined {
  const value = source[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean')
    throw wrong(`${path}.${key}`, `must be true or false where it is given, not ${describe(value)}`);
  return value;
}

export function record(value: Plain | undefined, path: string): PlainRecord {
  if (!isRecord(value)) throw wrong(path, `must be an object, not ${describe(value)}`);
  return value;
}

/** `vendor` holds one object for each scheme or vendor that it speaks to. */
export function checkRecordOfRecords(value: Plain | undefined, path: string): PlainRecord {
  const fields = record(value, path);
  for (const [key, inner] of Object.entries(fields)) record(inner, path + formatStep(key));
  return fields;
}

/**
 * The fields beside those that were looked at: they may be the wire's own words and are kept. `vendor` is checked
 * on the way.
 */
export function otherFields(source: PlainRecord, taken: readonly string[], path: string): object {
  const others: Record<string, Plain> = {};
  for (const [key, value] of Object.entries(source)) {
    if (taken.includes(key)) continue;
    if (key === 'vendor') {
      if (value === null) continue;
      checkRecordOfRecords(value, `${path}.vendor`);
    }
    others[key] = value;
  }
  return others;
}

/** A field that is left out when it has no value. */
export function field<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  const holder: Partial<Record<K, V>> = {};
  if (value !== undefined) holder[key] = value;
  return holder;
}

/** Freezing what was built lets it be remembered: nothing in it can change after it was checked. */
export function freeze<T extends object>(value: T): Readonly<T> {
  return Object.freeze(value);
}
