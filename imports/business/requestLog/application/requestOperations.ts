/** `ai.requests.*` */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { identifier, line, listOrOne, object, oneOf } from '../../../host/schemas';
import { ObjectNotFoundError } from '../../ai/domain/errors/ObjectNotFoundError';
import type { RequestDetail, RequestReader, RequestSort } from '../domain/RequestReader';
import type { Actor, UserSearch } from '../../ai/domain/types/Actor';
import { REQUEST_SOURCES, REQUEST_STATES } from '../../ai/domain/types/RequestRecords';
import { assertOwn } from '../../ai/application/operations/assertOwn';
import { listFilter, listPage } from '../../ai/application/operations/listSchemas';
import { ARGUMENT_LIMITS } from '../../ai/application/operations/readArguments';
import { searchedUsers } from '../../ai/application/operations/searchedUsers';
import { canAccess } from '../../ai/application/operations/runAccess';

export interface RequestServices {
  readonly requestLog: {
    readonly requests: Pick<RequestReader, 'page' | 'find' | 'bodiesOf'>;
    /** Bodies of new calls are logged. */
    readonly logsBodies: boolean;
    /** Default: users are found by id. */
    readonly searchUsers?: UserSearch | undefined;
  };
}

const MAX_MODEL_LENGTH = 512;
const SORTS = ['at', 'cost', 'duration', 'tokens'] as const satisfies readonly RequestSort[];

const name = v.optional(line(ARGUMENT_LIMITS.id));
const requestView = v.looseObject({
  _id: v.string(),
  at: v.number(),
  userId: v.string(),
  source: v.picklist(REQUEST_SOURCES),
  isStream: v.boolean(),
  providerId: v.optional(v.string()),
  model: v.optional(v.string()),
  state: v.picklist(REQUEST_STATES),
  error: v.optional(v.looseObject({ code: v.string(), message: v.string() })),
  attempts: v.array(v.looseObject({ at: v.number() })),
  timeToFirstToken: v.optional(v.number()),
  duration: v.number(),
  usage: v.looseObject({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() }),
  cost: v.optional(v.number()),
  unpriced: v.optional(v.string()),
});

export const REQUEST_OPERATIONS = [
  defineOperation({
    name: 'ai.requests.list',
    summary: 'List model calls',
    description:
      'The newest first, unless they are sorted. Each word of `search` begins an id, a name, a model or a word of an ' +
      'error, or for administrators `search` as a whole the name or the e-mail address of a user. Users get their own ' +
      'calls, administrators everyone’s or those of `userId`. `total` counts all pages.',
    access: 'read',
    argument: object({
      state: v.optional(listOrOne(REQUEST_STATES)),
      source: v.optional(oneOf(REQUEST_SOURCES)),
      api: name,
      providerId: name,
      model: v.optional(line(MAX_MODEL_LENGTH)),
      userId: name,
      tokenId: name,
      executionId: name,
      ...listFilter,
      ...listPage(SORTS),
    }),
    result: v.looseObject({ requests: v.array(requestView), total: v.number(), next: v.optional(v.string()) }),
    http: 'GET /api/requests',
    reads: ['requests'],
    execute: async ({ requestLog: { requests, searchUsers } }: RequestServices, { actor, argument }) => {
      const { sort, order, limit, after, state: states, ...filter } = argument;
      assertOwn(actor, filter.userId, 'requests');
      const userId = actor.isAdmin === true ? filter.userId : actor.userId;
      const found = await searchedUsers(actor, filter.search, searchUsers);
      return requests.page({ ...filter, states, userId, searchedUsers: found }, { sort, order, limit, after });
    },
  }),
  defineOperation({
    name: 'ai.requests.get',
    summary: 'Read a model call',
    description:
      '`bodies` are JSON, if they were logged and have not expired; their `exchanges` are what each attempt sent to ' +
      'its vendor and received.',
    access: 'read',
    argument: object({ requestId: identifier(ARGUMENT_LIMITS.id) }),
    result: v.looseObject({
      request: requestView,
      bodies: v.optional(v.looseObject({ request: v.string(), response: v.optional(v.string()) })),
      logsBodies: v.boolean(),
    }),
    http: 'GET /api/requests/:requestId',
    reads: [],
    execute: ({ requestLog }: RequestServices, { actor, argument }) =>
      readRequest(requestLog, actor, argument.requestId),
  }),
] as const;

async function readRequest(
  { requests, logsBodies }: RequestServices['requestLog'],
  actor: Actor,
  id: string,
): Promise<RequestDetail> {
  const request = await requests.find(id);
  if (request === undefined || !canAccess(actor, request.userId)) throw new UnknownRequestError();
  const bodies = request.hasBodies === true ? await requests.bodiesOf(id) : undefined;
  return bodies === undefined ? { request, logsBodies } : { request, logsBodies, bodies };
}

/** The call is not in the log, or belongs to another user: the two are indistinguishable to the caller. */
export class UnknownRequestError extends ObjectNotFoundError {
  constructor() {
    super('There is no such request. It may have expired.', { path: 'requestId' });
  }
}
