/** Reads what the arguments of all lists have in common: search, states, bounds, order and page. */
import { integer, listOf, numberBetween, oneOf, optional, optionalValue, text } from '../../domain/arguments';
import { isList } from '../../domain/json';
import type { JsonObject } from '../../domain/types/VendorTypes';

/** Absent fields match everything. Costs are US dollars, durations milliseconds, bounds are inclusive. */
export interface ListFilter {
  readonly search?: string;
  /** Milliseconds since the epoch, as `to`. */
  readonly from?: number;
  readonly to?: number;
  readonly minCost?: number;
  readonly maxCost?: number;
  readonly minDuration?: number;
  readonly maxDuration?: number;
}

export interface ListPage<S extends string> {
  readonly sort: S;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly after?: string;
}

export const LIST_FILTER_FIELDS = [
  'search',
  'from',
  'to',
  'minCost',
  'maxCost',
  'minDuration',
  'maxDuration',
] as const satisfies readonly (keyof ListFilter)[];

export const LIST_PAGE_FIELDS = ['sort', 'order', 'limit', 'after'] as const satisfies readonly (keyof ListPage<''>)[];

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000 } as const;
const time = integer(0, Number.MAX_SAFE_INTEGER);
const amount = numberBetween(0, Number.MAX_SAFE_INTEGER);

/** An empty search matches everything. */
export function readListFilter(fields: JsonObject): ListFilter {
  const { search } = fields;
  return {
    ...(search === undefined || search === '' ? {} : { search: text(LIMITS.search)(search, 'search') }),
    ...optional(fields, 'from', time),
    ...optional(fields, 'to', time),
    ...optional(fields, 'minCost', amount),
    ...optional(fields, 'maxCost', amount),
    ...optional(fields, 'minDuration', amount),
    ...optional(fields, 'maxDuration', amount),
  };
}

/** `state`, which is one or a list. */
export function readStates<S extends string>(
  { state }: JsonObject,
  states: readonly S[],
): { readonly states?: readonly S[] } {
  return state === undefined
    ? {}
    : { states: listOf(states.length, oneOf(states))(isList(state) ? state : [state], 'state') };
}

/** @param sorts the first is the default */
export function readListPage<S extends string>(fields: JsonObject, sorts: readonly [S, ...S[]]): ListPage<S> {
  return {
    sort: optionalValue(fields, 'sort', oneOf(sorts)) ?? sorts[0],
    order: optionalValue(fields, 'order', oneOf(['asc', 'desc'])) ?? 'desc',
    limit: optionalValue(fields, 'limit', integer(1, LIMITS.page)) ?? LIMITS.defaultPage,
    ...optional(fields, 'after', text(LIMITS.after)),
  };
}
