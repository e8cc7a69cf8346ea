import { isObject } from '../../../business/ai/domain/util/json';

/**
 * Replaces the parts of a JSON value that equal those of an earlier one by the earlier objects, so that only components
 * whose part has changed are rendered again. Elements of lists are matched by `_id`, or else by position.
 */
export function reuseUnchanged<T>(before: unknown, after: T): T {
  if (Object.is(before, after)) return after;
  if (Array.isArray(before) && Array.isArray(after)) return reuseList(before, after) as T;
  if (!isObject(before) || !isObject(after)) return after;
  const names = Object.keys(after);
  const reused = Object.fromEntries(names.map((name) => [name, reuseUnchanged(before[name], after[name])]));
  const isEqual =
    names.length === Object.keys(before).length &&
    names.every((name) => name in before && Object.is(before[name], reused[name]));
  return (isEqual ? before : reused) as T;
}

function reuseList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const byId = new Map(before.flatMap((entry) => (isObject(entry) && '_id' in entry ? [[entry['_id'], entry]] : [])));
  const reused = after.map((entry, index) =>
    reuseUnchanged(isObject(entry) && '_id' in entry ? byId.get(entry['_id']) : before[index], entry),
  );
  return reused.length === before.length && reused.every((entry, index) => Object.is(entry, before[index]))
    ? before
    : reused;
}
