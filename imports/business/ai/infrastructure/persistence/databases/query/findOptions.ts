/** Order, number and fields of what is found: checked for all stores, carried out for the one that is in memory. */
import type { FindOptions } from '../../../../domain/interfaces/DocumentCollection';
import { isPlainObject, isRecord, splitPath, valuesAt } from './fieldPaths';
import { refused } from '../../documents/refused';
import { compareScalars } from './scalars';

/**
 * A checked copy.
 * @throws LLMInvalidRequestError; also for a limit of 0, which MongoDB reads as "no limit"
 */
export function readFindOptions(options: FindOptions): FindOptions {
  const { sort, limit, fields } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    throw refused('limit', 'is a whole number from 1');
  if (sort !== undefined) checkPaths(sort, 'sort', (direction) => direction === 1 || direction === -1);
  if (fields !== undefined) {
    checkPaths(fields, 'fields', (wanted) => wanted === 1);
    const nested = Object.keys(fields).find((path) =>
      Object.keys(fields).some((other) => path.startsWith(`${other}.`)),
    );
    if (nested !== undefined) throw refused('fields', `name ${nested} and what it is inside of`);
  }
  return {
    ...(sort === undefined ? {} : { sort: { ...sort } }),
    ...(limit === undefined ? {} : { limit }),
    ...(fields === undefined ? {} : { fields: { ...fields } }),
  };
}

/**
 * A new, ordered list. An array stands where its least element stands, or its greatest when the order is
 * descending.
 */
export function sorted<T extends object>(documents: readonly T[], sort: FindOptions['sort'] = {}): T[] {
  const orders = Object.entries(sort).map(([path, direction]) => ({ parts: path.split('.'), direction }));
  if (orders.length === 0) return [...documents];
  // Keys are looked up once for each document, not once for each comparison.
  const keyed = documents.map((document) => ({
    document,
    keys: orders.map(({ parts, direction }) => sortKey(document, parts, direction)),
  }));
  keyed.sort((left, right) => {
    for (const [at, { direction }] of orders.entries()) {
      const order = compareKeys(left.keys[at], right.keys[at]);
      if (order !== 0) return order * direction;
    }
    return 0;
  });
  return keyed.map(({ document }) => document);
}

/**
 * The document with the named fields only, and its `_id`; objects on the way to a nested field are kept, what has
 * no fields is not.
 */
export function projected(document: object, fields: FindOptions['fields'] = {}): object {
  const paths = Object.keys(fields);
  if (paths.length === 0) return document;
  return {
    ...('_id' in document ? { _id: document._id } : {}),
    ...picked(
      document,
      paths.map((path) => path.split('.')),
    ),
  };
}

const EMPTY = Symbol('an empty array, which stands before null');

function sortKey(document: object, parts: readonly string[], direction: 1 | -1): unknown {
  const found = valuesAt(document, parts).flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  if (found.length === 0) return EMPTY;
  return found.reduce((best, value) => (compareScalars(value, best) * direction < 0 ? value : best));
}

function compareKeys(left: unknown, right: unknown): number {
  if (left === EMPTY || right === EMPTY) return Number(right === EMPTY) - Number(left === EMPTY);
  return compareScalars(left, right);
}

function picked(value: unknown, paths: readonly (readonly string[])[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  if (!isRecord(value)) return result;
  for (const name of Object.keys(value)) {
    const inner = paths.filter((path) => path[0] === name).map((path) => path.slice(1));
    if (inner.some((path) => path.length === 0)) result[name] = value[name];
    else if (inner.length > 0) {
      const kept = pickedInside(value[name], inner);
      if (kept !== undefined) result[name] = kept;
    }
  }
  return result;
}

function pickedInside(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value))
    return value.flatMap((element: unknown): unknown[] => (isRecord(element) ? [picked(element, paths)] : []));
  return isRecord(value) ? picked(value, paths) : undefined;
}

function checkPaths(
  paths: Readonly<Record<string, unknown>>,
  where: string,
  accepts: (value: unknown) => boolean,
): void {
  if (!isPlainObject(paths)) throw refused(where, 'is not a plain object');
  for (const [path, value] of Object.entries(paths)) {
    splitPath(path, where);
    if (!accepts(value)) throw refused(where, `has a value that stores don't share at ${path}`);
  }
}
