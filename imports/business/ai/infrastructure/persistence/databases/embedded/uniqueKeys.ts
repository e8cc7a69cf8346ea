/** The unique keys of documents as MongoDB compares them. */
import type { Scalar, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { valuesAt } from '../query/fieldPaths';
import { isSameScalar } from '../query/scalars';

export interface UniqueRule {
  readonly fields: readonly string[];
  readonly isSparse: boolean;
}

/**
 * MongoDB treats a missing field and null as the same unique key, NeDB does not. So keys that contain null are checked
 * here, all others by NeDB.
 * @returns a test for stored documents that `document` cannot coexist with; undefined if NeDB's own check suffices
 */
export function conflictTest(
  document: StoredDocument,
  rules: readonly UniqueRule[],
): ((other: StoredDocument) => boolean) | undefined {
  const keys = rules.flatMap((rule) => {
    const key = uniqueKeyOf(document, rule);
    return key?.includes(null) === true ? [{ rule, key }] : [];
  });
  if (keys.length === 0) return undefined;
  return (other) =>
    other._id !== document._id && keys.some(({ rule, key }) => isSameKey(uniqueKeyOf(other, rule), key));
}

/** Undefined for a document that a sparse index omits: one with none of its fields. */
export function uniqueKeyOf(document: StoredDocument, rule: UniqueRule): readonly unknown[] | undefined {
  const values = rule.fields.map((field) => valuesAt(document, field.split('.'))[0]);
  return rule.isSparse && values.every((value) => value === undefined)
    ? undefined
    : values.map((value) => value ?? null);
}

function isSameKey(left: readonly unknown[] | undefined, right: readonly unknown[]): boolean {
  return left?.every((value, at) => isSameValue(value, right[at])) === true;
}

function isSameValue(left: unknown, right: unknown): boolean {
  return isScalar(right) && isSameScalar(left, right);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== 'object' || value instanceof Date;
}
