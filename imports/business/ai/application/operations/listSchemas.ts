/** What the arguments of lists have in common: search, bounds, order and page. */
import * as v from 'valibot';
import { integer, numberBetween, oneOf, text, time } from '../../../../host/schemas';

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000 } as const;
const cost = v.pipe(numberBetween(0, Number.MAX_SAFE_INTEGER), v.description('US dollars.'));
const duration = v.pipe(numberBetween(0, Number.MAX_SAFE_INTEGER), v.description('Milliseconds.'));

/** Absent fields match everything, and so does an empty search. Bounds are inclusive. */
export const listFilter = {
  search: v.optional(
    v.pipe(
      text(LIMITS.search),
      v.transform((given) => (given === '' ? undefined : given)),
    ),
  ),
  from: v.optional(time),
  to: v.optional(time),
  minCost: v.optional(cost),
  maxCost: v.optional(cost),
  minDuration: v.optional(duration),
  maxDuration: v.optional(duration),
};

/** @param sorts the first is the default */
export function listPage<const S extends readonly [string, ...string[]]>(sorts: S) {
  // The declarations of the package need the type of the default as one of the list.
  const first: S[number] = sorts[0];
  return {
    sort: v.optional(oneOf(sorts), first),
    order: v.optional(oneOf(['asc', 'desc']), 'desc'),
    limit: v.optional(integer(1, LIMITS.page), LIMITS.defaultPage),
    after: v.optional(v.pipe(text(LIMITS.after), v.description('The `next` of the page before.'))),
  };
}
