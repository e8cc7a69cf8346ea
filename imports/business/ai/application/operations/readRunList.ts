/** Reads the arguments of the operations that list, sum up, rate and tag runs. */
import { RUN_TRANSITIONS } from '../../domain/entities/Run';
import type { RunState } from '../../domain/entities/Run';
import {
  identifier,
  integer,
  invalid,
  listOf,
  numberBetween,
  oneOf,
  optional,
  optionalValue,
  readObject,
  required,
  text,
} from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import type { RunListFilter, RunPageRequest, RunSort } from '../../domain/interfaces/RunViewReader';
import { isList } from '../../domain/json';
import type { RunRating } from '../../domain/types/RunViews';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { ARGUMENT_LIMITS } from './readArguments';
import { tagList, tagName } from './readRunLabels';

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000, comment: 2_000 } as const;
const STATES = Object.keys(RUN_TRANSITIONS) as readonly RunState[];
const SORTS: readonly RunSort[] = ['createdAt', 'cost', 'duration', 'tokens'];
const RATINGS: readonly RunRating[] = ['up', 'down'];
const FILTER_FIELDS = [
  'executionId',
  'search',
  'state',
  'waiting',
  'providerId',
  'model',
  'userId',
  'tool',
  'tag',
  'rating',
  'conversationId',
  'since',
  'from',
  'to',
  'minCost',
  'maxCost',
  'minDuration',
  'maxDuration',
] as const;

export type RunListRequest = { readonly filter: RunListFilter } & RunPageRequest;

/** `{ …filter, sort?, order?, limit?, after? }` */
export function readRunList(argument: unknown): RunListRequest {
  const fields = readObject(argument, [...FILTER_FIELDS, 'sort', 'order', 'limit', 'after']);
  return {
    filter: filterOf(fields),
    sort: optionalValue(fields, 'sort', oneOf(SORTS)) ?? 'createdAt',
    order: optionalValue(fields, 'order', oneOf(['asc', 'desc'])) ?? 'desc',
    limit: optionalValue(fields, 'limit', integer(1, LIMITS.page)) ?? LIMITS.defaultPage,
    ...optional(fields, 'after', text(LIMITS.after)),
  };
}

/** The fields of `RunListFilter`, but `state` is one or a list, and `since` the same as `from`. */
export function readRunSummary(argument: unknown): RunListFilter {
  return filterOf(readObject(argument, FILTER_FIELDS));
}

export interface RatedRun {
  readonly executionId: string;
  readonly rating: RunRating | null;
  readonly comment?: string;
}

/** `{ executionId, rating, comment? }`; the rating null removes both. */
export function readRating(argument: unknown): RatedRun {
  const fields = readObject(argument, ['executionId', 'rating', 'comment']);
  const { rating } = fields;
  return {
    executionId: required(fields, 'executionId', identifier(ARGUMENT_LIMITS.id)),
    rating: rating === null ? null : required(fields, 'rating', oneOf(RATINGS)),
    ...optional(fields, 'comment', text(LIMITS.comment)),
  };
}

/** `{ executionId, tags }` */
export function readTagging(argument: unknown): { readonly executionId: string; readonly tags: readonly string[] } {
  const fields = readObject(argument, ['executionId', 'tags']);
  return {
    executionId: required(fields, 'executionId', identifier(ARGUMENT_LIMITS.id)),
    tags: required(fields, 'tags', tagList),
  };
}

const time = integer(0, Number.MAX_SAFE_INTEGER);
const amount = numberBetween(0, Number.MAX_SAFE_INTEGER);

function filterOf(fields: JsonObject): RunListFilter {
  const { since, state, search } = fields;
  // DDP transports dates.
  const from = fields['from'] ?? (since instanceof Date ? since.getTime() : since);
  const named = identifier(ARGUMENT_LIMITS.id);
  return {
    ...optional(fields, 'executionId', named),
    ...optional(fields, 'userId', named),
    ...(state === undefined
      ? {}
      : { states: listOf(STATES.length, oneOf(STATES))(isList(state) ? state : [state], 'state') }),
    ...optional(fields, 'waiting', onlyTrue),
    ...optional(fields, 'providerId', named),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model)),
    ...optional(fields, 'tool', text(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'tag', tagName),
    ...optional(fields, 'rating', oneOf(RATINGS)),
    ...optional(fields, 'conversationId', named),
    ...optional({ from }, 'from', time),
    ...optional(fields, 'to', time),
    ...optional(fields, 'minCost', amount),
    ...optional(fields, 'maxCost', amount),
    ...optional(fields, 'minDuration', amount),
    ...optional(fields, 'maxDuration', amount),
    ...(search === undefined || search === '' ? {} : { search: text(LIMITS.search)(search, 'search') }),
  };
}

const onlyTrue: ArgumentReader<true> = (value, path) => {
  if (value !== true) throw invalid(path, 'must be true');
  return true;
};
