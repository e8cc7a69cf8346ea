/** `ai.requests.*` for any transport: the log of model calls. Users see their own calls, admins everyone's. */
import {
  identifier,
  integer,
  line,
  listOf,
  numberBetween,
  oneOf,
  optional,
  optionalValue,
  readObject,
  required,
  text,
} from '../../domain/arguments';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type {
  RequestDetail,
  RequestListFilter,
  RequestPage,
  RequestPageRequest,
  RequestReader,
  RequestSort,
} from '../../domain/interfaces/RequestReader';
import { isList } from '../../domain/json';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import { REQUEST_SOURCES, REQUEST_STATES } from '../../domain/types/RequestRecords';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { ARGUMENT_LIMITS } from './readArguments';
import { canAccess, signedIn } from './RunOperations';

export interface RequestPorts {
  readonly requests: Pick<RequestReader, 'page' | 'find' | 'bodiesOf'>;
  /** Bodies of new calls are logged. */
  readonly logsBodies: boolean;
}

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface RequestOperations {
  /** `{ …filter, sort?, order?, limit?, after? }`. Newest first unless sorted. @throws LLMPermissionError */
  readonly 'ai.requests.list': Operation<RequestPage>;
  /** `{ requestId }`. @throws UnknownRequestError */
  readonly 'ai.requests.get': Operation<RequestDetail>;
}

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000, model: 512 } as const;
const SORTS: readonly RequestSort[] = ['at', 'cost', 'duration', 'tokens'];
const FIELDS = [
  'search',
  'state',
  'source',
  'api',
  'providerId',
  'model',
  'userId',
  'tokenId',
  'executionId',
  'from',
  'to',
  'minCost',
  'maxCost',
  'minDuration',
  'maxDuration',
  'sort',
  'order',
  'limit',
  'after',
] as const;

export function createRequestOperations({ requests, logsBodies }: RequestPorts): RequestOperations {
  return {
    async 'ai.requests.list'(actor, argument = {}) {
      signedIn(actor);
      const fields = readObject(argument, FIELDS);
      return requests.page(permittedFilter(actor, filterOf(fields)), pageOf(fields));
    },
    async 'ai.requests.get'(actor, argument) {
      signedIn(actor);
      const id = required(readObject(argument, ['requestId']), 'requestId', identifier(ARGUMENT_LIMITS.id));
      const request = await requests.find(id);
      if (request === undefined || !canAccess(actor, request.userId)) throw new UnknownRequestError();
      const bodies = request.hasBodies === true ? await requests.bodiesOf(id) : undefined;
      return { request, logsBodies, ...(bodies === undefined ? {} : { bodies }) };
    },
  };
}

/** The call is not in the log, or belongs to another user: the two are indistinguishable to the caller. */
export class UnknownRequestError extends LLMInvalidRequestError {
  constructor() {
    super('There is no such request. It may have expired.', { path: 'requestId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}

function filterOf(fields: JsonObject): RequestListFilter {
  const { state, search } = fields;
  const named = line(ARGUMENT_LIMITS.id);
  const time = integer(0, Number.MAX_SAFE_INTEGER);
  const amount = numberBetween(0, Number.MAX_SAFE_INTEGER);
  return {
    ...optional(fields, 'userId', named),
    ...(search === undefined || search === '' ? {} : { search: text(LIMITS.search)(search, 'search') }),
    ...(state === undefined
      ? {}
      : { states: listOf(REQUEST_STATES.length, oneOf(REQUEST_STATES))(isList(state) ? state : [state], 'state') }),
    ...optional(fields, 'source', oneOf(REQUEST_SOURCES)),
    ...optional(fields, 'api', named),
    ...optional(fields, 'providerId', named),
    ...optional(fields, 'model', line(LIMITS.model)),
    ...optional(fields, 'tokenId', named),
    ...optional(fields, 'executionId', named),
    ...optional(fields, 'from', time),
    ...optional(fields, 'to', time),
    ...optional(fields, 'minCost', amount),
    ...optional(fields, 'maxCost', amount),
    ...optional(fields, 'minDuration', amount),
    ...optional(fields, 'maxDuration', amount),
  };
}

function pageOf(fields: JsonObject): RequestPageRequest {
  return {
    sort: optionalValue(fields, 'sort', oneOf(SORTS)) ?? 'at',
    order: optionalValue(fields, 'order', oneOf(['asc', 'desc'])) ?? 'desc',
    limit: optionalValue(fields, 'limit', integer(1, LIMITS.page)) ?? LIMITS.defaultPage,
    ...optional(fields, 'after', text(LIMITS.after)),
  };
}

/** @throws LLMPermissionError for a user who asks for the calls of another */
function permittedFilter(actor: Actor, filter: RequestListFilter): RequestListFilter {
  if (actor.isAdmin === true) return filter;
  if (filter.userId !== undefined && filter.userId !== actor.userId)
    throw new LLMPermissionError('Only admins see the requests of other users.', { path: 'userId' });
  return { ...filter, userId: actor.userId };
}
