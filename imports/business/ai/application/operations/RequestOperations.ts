/** `ai.requests.*` for any transport: the log of model calls. Users see their own calls, admins everyone's. */
import { identifier, line, oneOf, optional, readObject, required } from '../../domain/arguments';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type {
  RequestDetail,
  RequestListFilter,
  RequestPage,
  RequestReader,
  RequestSort,
} from '../../domain/interfaces/RequestReader';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import { REQUEST_SOURCES, REQUEST_STATES } from '../../domain/types/RequestRecords';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { assertOwn } from './assertOwn';
import { ARGUMENT_LIMITS } from './readArguments';
import { LIST_FILTER_FIELDS, LIST_PAGE_FIELDS, readListFilter, readListPage, readStates } from './readListArguments';
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

const MAX_MODEL_LENGTH = 512;
const SORTS = ['at', 'cost', 'duration', 'tokens'] as const satisfies readonly RequestSort[];
const FIELDS = [
  'state',
  'source',
  'api',
  'providerId',
  'model',
  'userId',
  'tokenId',
  'executionId',
  ...LIST_FILTER_FIELDS,
  ...LIST_PAGE_FIELDS,
] as const;

export function createRequestOperations({ requests, logsBodies }: RequestPorts): RequestOperations {
  return {
    async 'ai.requests.list'(actor, argument = {}) {
      signedIn(actor);
      const fields = readObject(argument, FIELDS);
      return requests.page(permittedFilter(actor, filterOf(fields)), readListPage(fields, SORTS));
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
  const named = line(ARGUMENT_LIMITS.id);
  return {
    ...optional(fields, 'userId', named),
    ...readStates(fields, REQUEST_STATES),
    ...optional(fields, 'source', oneOf(REQUEST_SOURCES)),
    ...optional(fields, 'api', named),
    ...optional(fields, 'providerId', named),
    ...optional(fields, 'model', line(MAX_MODEL_LENGTH)),
    ...optional(fields, 'tokenId', named),
    ...optional(fields, 'executionId', named),
    ...readListFilter(fields),
  };
}

/** @throws LLMPermissionError for a user who asks for the calls of another */
function permittedFilter(actor: Actor, filter: RequestListFilter): RequestListFilter {
  assertOwn(actor, filter.userId, 'requests');
  return actor.isAdmin === true ? filter : { ...filter, userId: actor.userId };
}
