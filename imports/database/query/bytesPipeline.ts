/** The size of documents as a pipeline of MongoDB. */
import type { CheckedSelector } from './parseSelector';
import { toMongoFilter } from './toMongoFilter';

type Stage = Record<string, unknown>;

/** What a document takes beside its long texts, about. */
const BYTES_PER_DOCUMENT = 512;

/** @param texts paths of strings; what is no string there counts for nothing, and neither do paths with `*` */
export function toBytesPipeline(selector: CheckedSelector, texts: readonly string[]): Stage[] {
  const lengths = texts
    .filter((path) => !path.includes('*'))
    .map((path) => ({ $cond: [{ $eq: [{ $type: `$${path}` }, 'string'] }, { $strLenBytes: `$${path}` }, 0] }));
  return [
    { $match: toMongoFilter(selector) },
    { $group: { _id: null, bytes: { $sum: { $add: [BYTES_PER_DOCUMENT, ...lengths] } } } },
  ];
}

/** @param rows of the pipeline: one, or none without a matching document */
export function fromBytesRows([row]: readonly Readonly<Record<string, unknown>>[]): number {
  return Number(row?.['bytes'] ?? 0);
}
