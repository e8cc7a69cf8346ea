/** The unique key of a document as MongoDB compares it: a missing field is the same as null. */
import type { StoredDocument } from '../DocumentCollection';
import { valuesAt } from '../query/fieldPaths';

export interface UniqueRule {
  readonly fields: readonly string[];
  readonly isSparse: boolean;
}

/** Undefined for a document that a sparse index omits: one with none of its fields. */
export function uniqueKeyOf(document: StoredDocument, rule: UniqueRule): readonly unknown[] | undefined {
  const values = rule.fields.map((field) => valuesAt(document, field.split('.'))[0]);
  return rule.isSparse && values.every((value) => value === undefined)
    ? undefined
    : values.map((value) => value ?? null);
}
