/** Which runs a filter matches, as a selector for `ai_runs`. */
import type { Selector } from '../../../../../database/DocumentCollection';
import type { RunListFilter } from '../../../domain/interfaces/RunViewReader';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { searchSelector } from '../../../../../database/searchWords';

/** @param waitingIds the runs that wait, for a filter that asks for them */
export function runListSelector(filter: RunListFilter, waitingIds: readonly string[] = []): Selector {
  const {
    executionId,
    userId,
    states,
    waiting,
    providerId,
    model,
    tool,
    tag,
    rating,
    conversationId,
    parentExecutionId,
    parentCallId,
    search,
    searchedUsers = [],
  } = filter;
  const { from, to, minCost, maxCost, minDuration, maxDuration } = filter;
  const conditions: readonly Selector[] = [
    ...equal('_id', executionId),
    ...equal('userId', userId),
    ...(states === undefined ? [] : [{ state: states.length === 1 ? states[0] : { $in: states } }]),
    ...(waiting === undefined ? [] : [{ $or: [{ _id: { $in: waitingIds } }, ...WAITING_RUNS] }]),
    ...equal('providerId', providerId),
    // The one that was asked for, or one that responded.
    ...(model === undefined ? [] : [{ $or: [{ model }, { models: model }] }]),
    ...equal('tools', tool),
    ...equal('tags', tag),
    ...equal('rating', rating),
    ...equal('conversationId', conversationId),
    ...equal('parentExecutionId', parentExecutionId),
    ...equal('parentCallId', parentCallId),
    ...between('createdAt', from, to),
    ...between('cost', minCost, maxCost),
    ...between('duration', minDuration, maxDuration),
    ...(search === undefined ? [] : [foundBy(search, searchedUsers)]),
  ].filter((condition) => Object.keys(condition).length > 0);
  if (conditions.length === 0) return {};
  return conditions.length === 1 ? (conditions[0] ?? {}) : { $and: conditions };
}

function foundBy(search: string, userIds: readonly string[]): Selector {
  const words = searchSelector(search, ['words', 'usedWords']);
  return userIds.length === 0 ? words : { $or: [words, { userId: { $in: userIds } }] };
}

/** Runs that wait as a whole. */
const WAITING_RUNS: readonly Selector[] = [
  { 'parked.at': { $exists: true } },
  { 'awaitedTools.since': { $exists: true } },
];

function equal(field: string, value: string | undefined): readonly Selector[] {
  return value === undefined ? [] : [{ [field]: value }];
}

function between(field: string, least: number | undefined, greatest: number | undefined): readonly Selector[] {
  if (least === undefined && greatest === undefined) return [];
  return [
    {
      [field]: omitUndefined({ $gte: least, $lte: greatest }),
    },
  ];
}
