/** Checks single fields. Each error states what is expected. */
import { describe, formatStep, isRecord, invalid } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';

export function requiredText(source: PlainRecord, key: string, path: string): string {
  const value = source[key];
  if (typeof value !== 'string') throw invalid(`${path}.${key}`, `must be a string, not ${describe(value)}`);
  return value;
}

/** An id or a name: a non-empty string. */
export function requiredName(source: PlainRecord, key: string, path: string): string {
  const value = requiredText(source, key, path);
  if (value === '') throw invalid(`${path}.${key}`, 'must not be empty');
  return value;
}

/** Vendors write `null` where Bolide's format omits a field. */
export function optionalText(source: PlainRecord, key: string, path: string): string | undefined {
  const value = source[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(`${path}.${key}`, `must be a string if present, not ${describe(value)}`);
  return value;
}

export function optionalBoolean(source: PlainRecord, key: string, path: string): boolean | undefined {
  const value = source[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean')
    throw invalid(`${path}.${key}`, `must be true or false if present, not ${describe(value)}`);
  return value;
}

export function record(value: Plain | undefined, path: string): PlainRecord {
  if (!isRecord(value)) throw invalid(path, `must be an object, not ${describe(value)}`);
  return value;
}

/** `vendor` holds one object per scheme or vendor. */
export function checkRecordOfRecords(value: Plain | undefined, path: string): PlainRecord {
  const fields = record(value, path);
  for (const [key, inner] of Object.entries(fields)) record(inner, path + formatStep(key));
  return fields;
}

/** All fields except those in `taken`: they may belong to the wire and are preserved. `vendor` is validated. */
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

/** `{ [key]: value }`, or `{}` for undefined: for spreading. */
export function field<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  const holder: Partial<Record<K, V>> = {};
  if (value !== undefined) holder[key] = value;
  return holder;
}

/** Frozen values can be cached: they cannot change after validation. */
export function freeze<T extends object>(value: T): Readonly<T> {
  return Object.freeze(value);
}
