/**
 * Pages through a collection by key instead of by position: each page starts after the last document of the one before
 * it, so that a page costs the same however far it is, and documents that come and go move no others.
 */
import { isList, readJson } from '../../business/ai/domain/util/json';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { DocumentCollection, FindOptions, Scalar, Selector, StoredDocument } from '../DocumentCollection';
import { valueAtPath } from './fieldPaths';

export interface PageOptions {
  /** A field whose values are all of one type: numbers, strings or dates. It may be missing. */
  readonly sort: string;
  /** Default: descending. Documents without the field come last, in ascending order first. */
  readonly order?: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  /** The page also has the field that it is sorted by. */
  readonly fields?: FindOptions['fields'];
}

export interface Page<T> {
  readonly rows: readonly T[];
  /** Opaque. Absent on the last page. */
  readonly next?: string;
}

/**
 * Sorts by the field and then by `_id`, so an index on both serves every page.
 * @throws LLMInvalidRequestError with the path `after` for anything but the `next` of a page with the same sort
 */
export async function findPage<T extends StoredDocument>(
  collection: DocumentCollection<T>,
  selector: Selector,
  { sort, order = 'desc', limit, after, fields }: PageOptions,
): Promise<Page<T>> {
  const direction = order === 'asc' ? 1 : -1;
  const position = after === undefined ? undefined : decodeCursor(after, `${order} ${sort}`);
  const found = await collection.find(
    position === undefined ? selector : { $and: [selector, isAfter(position, sort, direction)] },
    {
      sort: { [sort]: direction, _id: direction },
      limit: limit + 1,
      ...omitUndefined({ fields: fields && { ...fields, [sort]: 1 } }),
    },
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows };
  return { rows, next: encodeCursor({ value: valueOf(last, sort), id: last._id }, `${order} ${sort}`) };
}

interface Position {
  readonly value: Scalar;
  readonly id: string;
}

function isAfter({ value, id }: Position, sort: string, direction: 1 | -1): Selector {
  const beyond = direction === 1 ? '$gt' : '$lt';
  const sameValue = { [sort]: value, _id: { [beyond]: id } };
  if (value === null) return direction === 1 ? { $or: [sameValue, { [sort]: { $ne: null } }] } : sameValue;
  const others = { [sort]: { [beyond]: value } };
  // No comparison matches a missing field.
  return { $or: [others, sameValue, ...(direction === 1 ? [] : [{ [sort]: null }])] };
}

function valueOf(document: object, path: string): Scalar {
  const value = valueAtPath(document, path.split('.'));
  return typeof value === 'number' || typeof value === 'string' || value instanceof Date ? value : null;
}

function encodeCursor({ value, id }: Position, sort: string): string {
  const stored = value instanceof Date ? { date: value.getTime() } : value;
  return Buffer.from(JSON.stringify([sort, stored, id])).toString('base64url');
}

function decodeCursor(cursor: string, expectedSort: string): Position {
  const [sort, stored, id] = parseCursor(cursor);
  const value = readValue(stored);
  if (typeof id !== 'string' || id === '' || value === undefined) throw invalidCursor('is not the "next" of a page');
  if (sort !== expectedSort) throw invalidCursor('belongs to a list with another sort order');
  return { value, id };
}

/** Empty if the text is no list. */
export function parseCursor(cursor: string): readonly unknown[] {
  const value = readJson(Buffer.from(cursor, 'base64url').toString());
  return isList(value) ? value : [];
}

function readValue(stored: unknown): Scalar | undefined {
  if (stored === null || typeof stored === 'number' || typeof stored === 'string') return stored;
  if (typeof stored !== 'object' || !('date' in stored) || typeof stored.date !== 'number') return undefined;
  const date = new Date(stored.date);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function invalidCursor(problem: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"after" ${problem}.`, { path: 'after' });
}
