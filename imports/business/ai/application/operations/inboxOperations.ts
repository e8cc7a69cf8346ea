/** `ai.inbox.*`, and calls as those who decide about them see them. */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { identifier, integer, object, oneOf, text } from '../../../../host/schemas';
import type { InboxPosition } from '../../domain/interfaces/InboxReader';
import { INBOX_KINDS } from './Inbox';
import type { Inbox } from './Inbox';
import { ARGUMENT_LIMITS } from './readArguments';

export interface InboxServices {
  readonly inbox: Inbox;
}

const LIMITS = { entries: 200, defaultEntries: 50, search: 200, after: 500 } as const;
const POSITION = /^(?<createdAt>\d{1,15}):(?<id>.+)$/s;

const executionId = identifier(ARGUMENT_LIMITS.id);
const callId = identifier(ARGUMENT_LIMITS.callId);
const after = v.pipe(
  text(LIMITS.after),
  v.regex(POSITION, 'must be the `next` of an earlier page'),
  v.transform((position): InboxPosition => {
    const { createdAt, id = '' } = POSITION.exec(position)?.groups ?? {};
    return { createdAt: Number(createdAt), _id: id };
  }),
);

export const INBOX_OPERATIONS = [
  defineOperation({
    name: 'ai.inbox.list',
    summary: 'List what waits for a person or another service',
    description:
      'The oldest first, unless `order` is `desc`. `search` matches parts of titles, tools, users, providers, models, ' +
      'ids and errors, in any case; a page of it may be short, or empty, and yet have a `next`. `counts` are of all ' +
      'that waits, whatever is listed.',
    access: 'read',
    argument: object({
      kind: v.optional(oneOf(INBOX_KINDS)),
      search: v.optional(
        v.pipe(
          text(LIMITS.search),
          v.transform((given) => given.trim().toLowerCase()),
        ),
        '',
      ),
      order: v.optional(oneOf(['asc', 'desc']), 'asc'),
      limit: v.optional(integer(1, LIMITS.entries), LIMITS.defaultEntries),
      after: v.optional(after),
    }),
    result: v.looseObject({
      entries: v.array(
        v.looseObject({
          _id: v.string(),
          kind: v.picklist(INBOX_KINDS),
          executionId: v.string(),
          userId: v.string(),
          providerId: v.string(),
          title: v.string(),
          createdAt: v.number(),
          since: v.number(),
        }),
      ),
      counts: v.record(v.picklist([...INBOX_KINDS, 'total']), v.number()),
      next: v.optional(v.string()),
    }),
    http: 'GET /api/inbox',
    reads: ['runs', 'calls'],
    execute: ({ inbox }: InboxServices, { actor, argument }) => inbox.list(actor, argument),
  }),
  defineOperation({
    name: 'ai.inbox.dismiss',
    summary: 'Dismiss a failed run',
    description: 'It leaves the inbox.',
    access: 'generate',
    argument: object({ executionId }),
    result: v.looseObject({ executionId: v.string() }),
    http: 'POST /api/inbox/:executionId/dismiss',
    changes: ['runs'],
    audit: { action: 'run.dismiss', kind: 'run', id: 'executionId', owner: 'run', isOfOthersOnly: true },
    execute: ({ inbox }: InboxServices, { actor, argument }) => inbox.dismiss(actor, argument.executionId),
  }),
  defineOperation({
    name: 'ai.runs.getCall',
    summary: 'Read a tool call with its complete arguments and result',
    access: 'read',
    argument: object({ executionId, callId }),
    result: v.looseObject({
      executionId: v.string(),
      callId: v.string(),
      name: v.string(),
      state: v.string(),
      arguments: v.string(),
      argumentsHash: v.string(),
      result: v.optional(v.string()),
    }),
    http: 'GET /api/runs/:executionId/calls/:callId',
    reads: ['calls'],
    execute: ({ inbox }: InboxServices, { actor, argument }) =>
      inbox.call(actor, argument.executionId, argument.callId),
  }),
] as const;
