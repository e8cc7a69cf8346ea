/**
 * The one thing about unique keys that NeDB sees otherwise than MongoDB: to MongoDB a missing field and null are
 * the same key. So keys that hold null are checked here, all others by NeDB.
 */
import type { StoredDocument } from '../../domain/interfaces/DocumentCollection';
import { valuesAt } from './databases/query/fieldPaths';
import { isSameScalar } from './databases/query/scalars';
import type { Scalar } from './databases/query/scalars';

export interface UniqueRule {
  readonly fields: readonly string[];
  readonly isSparse: boolean;
}

/**
 * A condition that a stored document fulfils if it and `document` can't both be there; undefined where NeDB's own
 * check is enough.
 */
export function clashWith(
  document: StoredDocument,
  rules: readonly UniqueRule[],
): ((other: StoredDocument) => boolean) | undefined {
  const keys = rules.flatMap((rule) => {
    const key = keyOf(document, rule);
    return key !== undefined && key.includes(null) ? [{ rule, key }] : [];
  });
  if (keys.length === 0) return undefined;
  return (other) => other._id !== document._id && keys.some(({ rule, key }) => isSameKey(keyOf(other, rule), key));
}

/** Undefined for a document that a sparse index leaves out: one that has none of its fields. */
function keyOf(document: StoredDocument, rule: UniqueRule): readonly unknown[] | undefined {
  const values = rule.fields.map((field) => valuesAt(document, field.split('.'))[0]);
  return rule.isSparse && values.every((value) => value === undefined)
    ? undefined
    : values.map((value) => value ?? null);
}

function isSameKey(left: readonly unknown[] | undefined, right: readonly unknown[]): boolean {
  return left !== undefined && left.every((value, at) => isSameValue(value, right[at]));
}

function isSameValue(left: unknown, right: unknown): boolean {
  return isScalar(right) && isSameScalar(left, right);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== 'object' || value instanceof Date;
}
