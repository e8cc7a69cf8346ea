/** Sort, limit and projection of a query, validated for every database. The embedded one projects with this. */
import type { FindOptions } from '../DocumentCollection';
import { invalidInput, isPlainObject, isRecord, splitPath } from './fieldPaths';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

/**
 * Returns a validated copy.
 * @throws LLMInvalidRequestError, also for a limit of 0, which MongoDB reads as "no limit"
 */
export function parseFindOptions(options: FindOptions): FindOptions {
  const { sort, limit, fields } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    throw invalidInput('limit', 'must be a positive integer');
  if (sort !== undefined) checkPaths(sort, 'sort', (direction) => direction === 1 || direction === -1);
  if (fields !== undefined) {
    checkPaths(fields, 'fields', (flag) => flag === 1);
    const nested = Object.keys(fields).find((path) =>
      Object.keys(fields).some((other) => path.startsWith(`${other}.`)),
    );
    if (nested !== undefined) throw invalidInput('fields', `must not include both ${nested} and a parent of it`);
  }
  return omitUndefined({ sort: sort && { ...sort }, limit, fields: fields && { ...fields } });
}

/**
 * Returns the document with its `_id` and the named fields only. Objects on the way to a nested field stay; other
 * values on the way are dropped.
 */
export function projectFields(document: object, fields: FindOptions['fields'] = {}): object {
  const paths = Object.keys(fields);
  if (paths.length === 0) return document;
  return {
    ...('_id' in document ? { _id: document._id } : {}),
    ...pickFields(
      document,
      paths.map((path) => path.split('.')),
    ),
  };
}

function pickFields(value: unknown, paths: readonly (readonly string[])[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  if (!isRecord(value)) return result;
  for (const name of Object.keys(value)) {
    const inner = paths.filter((path) => path[0] === name).map((path) => path.slice(1));
    if (inner.some((path) => path.length === 0)) result[name] = value[name];
    else if (inner.length > 0) {
      const nested = pickNested(value[name], inner);
      if (nested !== undefined) result[name] = nested;
    }
  }
  return result;
}

function pickNested(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value))
    return value.flatMap((element: unknown): unknown[] => (isRecord(element) ? [pickFields(element, paths)] : []));
  return isRecord(value) ? pickFields(value, paths) : undefined;
}

function checkPaths(
  paths: Readonly<Record<string, unknown>>,
  location: string,
  accepts: (value: unknown) => boolean,
): void {
  if (!isPlainObject(paths)) throw invalidInput(location, 'must be a plain object');
  for (const [path, value] of Object.entries(paths)) {
    splitPath(path, location);
    if (!accepts(value)) throw invalidInput(location, `has an unsupported value at ${path}`);
  }
}
