/** Reads the arguments of the operations that list, sum up, rate and tag runs. */
import { RUN_TRANSITIONS } from '../../domain/entities/Run';
import type { RunState } from '../../domain/entities/Run';
import { identifier, invalid, oneOf, optional, readObject, required, text } from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import type { RunListFilter, RunPageRequest, RunSort } from '../../domain/interfaces/RunViewReader';
import type { RunRating } from '../../domain/types/RunViews';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { ARGUMENT_LIMITS } from './readArguments';
import { LIST_FILTER_FIELDS, LIST_PAGE_FIELDS, readListFilter, readListPage, readStates } from './readListArguments';
import { tagList, tagName } from './readRunLabels';

const MAX_COMMENT_LENGTH = 2_000;
const STATES = Object.keys(RUN_TRANSITIONS) as readonly RunState[];
const SORTS = ['createdAt', 'cost', 'duration', 'tokens'] as const satisfies readonly RunSort[];
const RATINGS: readonly RunRating[] = ['up', 'down'];
const FILTER_FIELDS = [
  'executionId',
  'state',
  'waiting',
  'providerId',
  'model',
  'userId',
  'tool',
  'tag',
  'rating',
  'conversationId',
  'parentExecutionId',
  'since',
  ...LIST_FILTER_FIELDS,
] as const;

export type RunListRequest = { readonly filter: RunListFilter } & RunPageRequest;

/** `{ …filter, sort?, order?, limit?, after? }` */
export function readRunList(argument: unknown): RunListRequest {
  const fields = readObject(argument, [...FILTER_FIELDS, ...LIST_PAGE_FIELDS]);
  return { filter: filterOf(fields), ...readListPage(fields, SORTS) };
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
    ...optional(fields, 'comment', text(MAX_COMMENT_LENGTH)),
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

function filterOf(fields: JsonObject): RunListFilter {
  const { since } = fields;
  // DDP transports dates.
  const from = fields['from'] ?? (since instanceof Date ? since.getTime() : since);
  const named = identifier(ARGUMENT_LIMITS.id);
  return {
    ...optional(fields, 'executionId', named),
    ...optional(fields, 'userId', named),
    ...readStates(fields, STATES),
    ...optional(fields, 'waiting', onlyTrue),
    ...optional(fields, 'providerId', named),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model)),
    ...optional(fields, 'tool', text(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'tag', tagName),
    ...optional(fields, 'rating', oneOf(RATINGS)),
    ...optional(fields, 'conversationId', named),
    ...optional(fields, 'parentExecutionId', named),
    ...readListFilter({ ...fields, from }),
  };
}

const onlyTrue: ArgumentReader<true> = (value, path) => {
  if (value !== true) throw invalid(path, 'must be true');
  return true;
};
