/** `ai.usage.*` */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { identifier, integer, line, object, oneOf } from '../../../host/schemas';
import { invalid } from '../../ai/domain/util/arguments';
import type { UsageReader } from '../domain/UsageReader';
import type { Actor } from '../../ai/domain/types/Actor';
import { USAGE_GROUPS, USAGE_INTERVALS } from '../domain/UsageReports';
import type { UsageQuery } from '../domain/UsageReports';
import { assertOwn } from '../../ai/application/operations/assertOwn';

export interface UsageServices {
  readonly usage: UsageReader;
}

const MAX_INTERVALS = 1_000;
const INTERVAL_MS = { hour: 3_600_000, day: 86_400_000 } as const;
/** The last millisecond that a date can have. */
const MAX_TIME = 8.64e15;
/** The offsets in use reach from 12 hours behind UTC to 14 hours ahead. */
const MAX_OFFSET_MINUTES = 14 * 60;
const MAX_NAME_LENGTH = 256;

const time = v.pipe(integer(0, MAX_TIME), v.description('Milliseconds since the epoch.'));
const id = v.optional(identifier(MAX_NAME_LENGTH));
const name = v.optional(line(MAX_NAME_LENGTH));
const percentiles = v.looseObject({ p50: v.number(), p95: v.number() });
const figures = v.looseObject({
  requests: v.number(),
  errors: v.number(),
  tokens: v.optional(
    v.looseObject({
      input: v.number(),
      cached: v.number(),
      cacheWrite: v.number(),
      output: v.number(),
      reasoning: v.number(),
    }),
  ),
  cost: v.optional(v.number()),
  unpriced: v.optional(v.number()),
  duration: v.optional(percentiles),
  timeToFirstToken: v.optional(percentiles),
});
const series = v.looseObject({ total: figures, values: v.array(figures) });

export const usageReportSchema = v.looseObject({
  intervals: v.array(v.number()),
  all: series,
  groups: v.array(v.looseObject({ name: v.nullable(v.string()), label: v.optional(v.string()), ...series.entries })),
  others: v.optional(v.looseObject({ groups: v.number(), ...series.entries })),
  unpriced: v.array(v.looseObject({ reason: v.string(), requests: v.number() })),
});

export const USAGE_OPERATIONS = [
  defineOperation({
    name: 'ai.usage.report',
    summary: 'Report cost, tokens, requests, errors and times',
    description:
      'The report is of the time from `from` to `to`, in at most 1,000 intervals. Days start at midnight UTC, or at ' +
      'that of a place which is `utcOffset` minutes ahead. `tool` needs a report by tool, which `providerId`, `model`, ' +
      '`tokenId` and `team` cannot filter. Users get their own usage, administrators everyone’s or that of `userId`.',
    access: 'read',
    argument: v.pipe(
      object({
        from: time,
        to: time,
        interval: oneOf(USAGE_INTERVALS),
        utcOffset: v.optional(integer(-MAX_OFFSET_MINUTES, MAX_OFFSET_MINUTES), 0),
        groupBy: v.optional(oneOf(USAGE_GROUPS)),
        providerId: id,
        model: name,
        userId: name,
        tokenId: id,
        team: name,
        tool: name,
      }),
      v.transform(assertReportable),
    ),
    result: usageReportSchema,
    http: 'GET /api/usage',
    reads: ['requests', 'calls'],
    execute: ({ usage }: UsageServices, { actor, argument }) => usage.report(permittedQuery(actor, argument)),
  }),
] as const;

/** @throws LLMInvalidRequestError for fields that do not go together */
function assertReportable(query: UsageQuery): UsageQuery {
  const { from, to, interval, groupBy, tool } = query;
  if (to <= from) throw invalid('to', 'must be later than "from"');
  if ((to - from) / INTERVAL_MS[interval] > MAX_INTERVALS)
    throw invalid('interval', `must divide the period into at most ${MAX_INTERVALS} intervals`);
  if (tool !== undefined && groupBy !== 'tool') throw invalid('tool', 'requires "groupBy" to be "tool"');
  for (const field of ['providerId', 'model', 'tokenId', 'team'] as const)
    if (query[field] !== undefined && groupBy === 'tool')
      throw invalid(field, 'is not stored with tool calls, so it cannot be combined with "groupBy": "tool"');
  return query;
}

/** @throws LLMPermissionError for a user who asks for the usage of another */
function permittedQuery(actor: Actor, query: UsageQuery): UsageQuery {
  assertOwn(actor, query.userId, 'usage');
  return actor.isAdmin === true ? query : { ...query, userId: actor.userId };
}
