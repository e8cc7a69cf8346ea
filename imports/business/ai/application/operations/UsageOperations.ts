/** `ai.usage.report` for any transport. Users see their own usage, admins everyone's. */
import { identifier, integer, invalid, line, oneOf, optional, readObject, required } from '../../domain/arguments';
import type { UsageReader } from '../../domain/interfaces/UsageReader';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import { USAGE_GROUPS, USAGE_INTERVALS } from '../../domain/types/UsageReports';
import type { UsageQuery, UsageReport } from '../../domain/types/UsageReports';
import { assertOwn } from './assertOwn';
import { signedIn } from './RunOperations';

export interface UsageOperations {
  /**
   * `{ from, to, interval: 'hour' | 'day', utcOffset?, groupBy?, providerId?, model?, userId?, tokenId?, team?,
   * tool? }`
   * @throws LLMAuthError if nobody is logged in, LLMInvalidRequestError for invalid arguments and for more than 1,000
   *   intervals, LLMPermissionError for a user who asks for the usage of another
   */
  readonly 'ai.usage.report': Operation<UsageReport>;
}

const MAX_INTERVALS = 1_000;
const INTERVAL_MS = { hour: 3_600_000, day: 86_400_000 } as const;
/** The last millisecond that a date can have. */
const MAX_TIME = 8.64e15;
/** The offsets in use reach from 12 hours behind UTC to 14 hours ahead. */
const MAX_OFFSET_MINUTES = 14 * 60;
const MAX_NAME_LENGTH = 256;
const FIELDS = [
  'from',
  'to',
  'interval',
  'utcOffset',
  'groupBy',
  'providerId',
  'model',
  'userId',
  'tokenId',
  'team',
  'tool',
] as const satisfies readonly (keyof UsageQuery)[];

export function createUsageOperations({ usage }: { readonly usage: UsageReader }): UsageOperations {
  return {
    async 'ai.usage.report'(actor, argument) {
      signedIn(actor);
      const query = readQuery(argument);
      return usage.report(permittedQuery(actor, query));
    },
  };
}

/** @throws LLMPermissionError for a user who asks for the usage of another */
function permittedQuery(actor: Actor, query: UsageQuery): UsageQuery {
  assertOwn(actor, query.userId, 'usage');
  return actor.isAdmin === true ? query : { ...query, userId: actor.userId };
}

function readQuery(argument: unknown): UsageQuery {
  const fields = readObject(argument ?? {}, FIELDS);
  const from = required(fields, 'from', integer(0, MAX_TIME));
  const to = required(fields, 'to', integer(0, MAX_TIME));
  const interval = required(fields, 'interval', oneOf(USAGE_INTERVALS));
  if (to <= from) throw invalid('to', 'must be later than "from"');
  if ((to - from) / INTERVAL_MS[interval] > MAX_INTERVALS)
    throw invalid('interval', `must divide the period into at most ${MAX_INTERVALS} intervals`);
  const query: UsageQuery = {
    from,
    to,
    interval,
    utcOffset: 0,
    ...optional(fields, 'utcOffset', integer(-MAX_OFFSET_MINUTES, MAX_OFFSET_MINUTES)),
    ...optional(fields, 'groupBy', oneOf(USAGE_GROUPS)),
    ...optional(fields, 'providerId', identifier(MAX_NAME_LENGTH)),
    ...optional(fields, 'model', line(MAX_NAME_LENGTH)),
    ...optional(fields, 'userId', line(MAX_NAME_LENGTH)),
    ...optional(fields, 'tokenId', identifier(MAX_NAME_LENGTH)),
    ...optional(fields, 'team', line(MAX_NAME_LENGTH)),
    ...optional(fields, 'tool', line(MAX_NAME_LENGTH)),
  };
  if (query.tool !== undefined && query.groupBy !== 'tool') throw invalid('tool', 'requires "groupBy" to be "tool"');
  for (const name of ['providerId', 'model', 'tokenId', 'team'] as const)
    if (query[name] !== undefined && query.groupBy === 'tool')
      throw invalid(name, 'is not stored with tool calls, so it cannot be combined with "groupBy": "tool"');
  return query;
}
