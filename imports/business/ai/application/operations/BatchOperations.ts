/**
 * `ai.batches.*` for any transport: requests that can wait, answered in the batches of vendors at half the price. They
 * belong to their user alone, also for admins.
 */
import { randomUUID } from 'node:crypto';
import {
  identifier,
  integer,
  invalid,
  listOf,
  numberBetween,
  optional,
  readObject,
  required,
  text,
} from '../../domain/arguments';
import { isEnded } from '../../domain/entities/UserBatch';
import type { UserBatch, UserBatchRequest } from '../../domain/entities/UserBatch';
import { ConflictError, LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Logger } from '../../domain/interfaces/Logger';
import type { UserBatchStore } from '../../domain/interfaces/UserBatchStore';
import type { Actor } from '../../domain/types/Actor';
import type { BatchPage, BatchResultPage, BatchView } from '../../domain/types/BatchViews';
import type { JsonObject } from '../../domain/types/VendorTypes';
import type { Operation } from '../../domain/types/Operation';
import type { UserBatches } from '../services/UserBatches';
import { assertUntrustedSchema } from '../services/schema/checkSchema';
import { canonicalJson } from '../services/shared/canonicalJson';
import { authorizeUse } from '../usecases/authorizeUse';
import type { AuthorizationPorts } from '../usecases/authorizeUse';
import { itemsFromUser, originOf } from '../usecases/RunLauncher';
import { ARGUMENT_LIMITS, jsonSchema } from './readArguments';
import { INPUT_LIMITS, readInput } from './readInput';
import { signedIn } from './RunOperations';

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface BatchOperations {
  /**
   * Takes `{ batchId, providerId, requests }`, each request as `{ input, model?, instructions?, temperature?,
   * maxOutputTokens?, reasoning?, schema? }`. A repeated request is the same batch.
   * @throws LLMPermissionError; ConflictError for other requests with the same id
   */
  readonly 'ai.batches.create': Operation<BatchView>;
  /** Takes `{ batchId }`. @throws UnknownBatchError */
  readonly 'ai.batches.get': Operation<BatchView>;
  /** Takes `{ limit?, after? }`. */
  readonly 'ai.batches.list': Operation<BatchPage>;
  /** Takes `{ batchId }`. What is answered keeps its result. @throws UnknownBatchError */
  readonly 'ai.batches.cancel': Operation<BatchView>;
  /** Takes `{ batchId, from?, limit? }`. @throws UnknownBatchError; ConflictError for a batch that has not ended */
  readonly 'ai.batches.results': Operation<BatchResultPage>;
}

export interface BatchOperationsPorts extends AuthorizationPorts {
  readonly batches: Pick<UserBatches, 'create' | 'cancel'>;
  readonly store: Pick<UserBatchStore, 'find' | 'list' | 'results'>;
  readonly logger: Logger;
}

const MAX_REQUESTS = 1_000;
const DEFAULT_PAGE = 50;
const MAX_CURSOR_LENGTH = 200;
const REQUEST_FIELDS = [
  'input',
  'inputData',
  'conversation_history',
  'model',
  'instructions',
  'temperature',
  'maxOutputTokens',
  'reasoning',
  'schema',
] as const;

export function createBatchOperations(ports: BatchOperationsPorts): BatchOperations {
  const { batches, store } = ports;
  const find = async ({ userId }: Actor, argument: unknown, others: readonly string[] = []) => {
    const fields = readObject(argument, ['batchId', ...others]);
    const batch = await store.find(userId, required(fields, 'batchId', identifier(ARGUMENT_LIMITS.id)));
    if (batch === undefined) throw new UnknownBatchError();
    return { batch, fields };
  };
  return {
    async 'ai.batches.create'(actor, argument) {
      signedIn(actor);
      const { batch, requests } = read(actor, argument);
      await authorize(actor, batch.providerId, requests, ports);
      return toView(await batches.create(batch, requests));
    },
    async 'ai.batches.get'(actor, argument) {
      signedIn(actor);
      return toView((await find(actor, argument)).batch);
    },
    async 'ai.batches.list'(actor, argument = {}) {
      signedIn(actor);
      const fields = readObject(argument, ['limit', 'after']);
      const page = await store.list(actor.userId, {
        limit: DEFAULT_PAGE,
        ...optional(fields, 'limit', integer(1, 200)),
        ...optional(fields, 'after', identifier(MAX_CURSOR_LENGTH)),
      });
      return { ...page, batches: page.batches.map(toView) };
    },
    async 'ai.batches.cancel'(actor, argument) {
      signedIn(actor);
      const { batch } = await find(actor, argument);
      return toView((await batches.cancel(actor.userId, batch.batchId)) ?? batch);
    },
    async 'ai.batches.results'(actor, argument) {
      signedIn(actor);
      const { batch, fields } = await find(actor, argument, ['from', 'limit']);
      if (!isEnded(batch))
        throw new ConflictError(`The batch "${batch.batchId}" has not ended. Read its results later.`, {
          path: 'batchId',
        });
      const { from = 0 } = optional(fields, 'from', integer(0, MAX_REQUESTS));
      const { limit = DEFAULT_PAGE } = optional(fields, 'limit', integer(1, 200));
      const found = await store.results(batch, from, limit);
      const results = found.flatMap((result, index) =>
        result === undefined ? [] : [{ index: from + index, ...result }],
      );
      const next = from + found.length;
      return next < batch.counts.total && found.length > 0 ? { results, next } : { results };
    },
  };
}

/** A batch of another user is reported exactly like one that does not exist. */
export class UnknownBatchError extends LLMInvalidRequestError {
  constructor() {
    super('There is no such batch.', { path: 'batchId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}

function read(
  actor: Actor,
  argument: unknown,
): { readonly batch: UserBatch; readonly requests: readonly UserBatchRequest[] } {
  const fields = readObject(argument, ['batchId', 'providerId', 'requests']);
  const batchId = required(fields, 'batchId', identifier(ARGUMENT_LIMITS.id));
  const providerId = required(fields, 'providerId', identifier(ARGUMENT_LIMITS.id));
  const requests = required(
    fields,
    'requests',
    listOf(MAX_REQUESTS, (value, path) => readRequest(actor, value, path)),
  );
  if (requests.length === 0) throw invalid('requests', 'must not be empty');
  if (Buffer.byteLength(JSON.stringify(requests)) > INPUT_LIMITS.bytes)
    throw invalid('requests', `must be no larger than ${INPUT_LIMITS.bytes / 1e6} MB of JSON. Send several batches`);
  return {
    batch: {
      ...{ id: randomUUID(), userId: actor.userId, batchId, providerId, origin: originOf(actor), state: 'running' },
      counts: { total: requests.length, succeeded: 0, failed: 0 },
      createdAt: Date.now(),
    },
    requests,
  };
}

function readRequest(actor: Actor, value: unknown, path: string): UserBatchRequest {
  const fields = readObject(value, REQUEST_FIELDS, path);
  return {
    input: under(path, () => itemsFromUser(actor, readInput(fields))),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model), `${path}.model`),
    ...optional(fields, 'instructions', text(ARGUMENT_LIMITS.instructions), `${path}.instructions`),
    ...optional(fields, 'temperature', numberBetween(0, 2), `${path}.temperature`),
    ...optional(fields, 'maxOutputTokens', integer(1, 1_000_000), `${path}.maxOutputTokens`),
    ...optional(fields, 'reasoning', identifier(ARGUMENT_LIMITS.effort), `${path}.reasoning`),
    ...optional(fields, 'schema', jsonSchema, `${path}.schema`),
  };
}

/** Names the request in the error of its input. */
function under<T>(path: string, readField: () => T): T {
  try {
    return readField();
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    throw new LLMInvalidRequestError(`${path}: ${error.message}`, {
      path: `${path}.${error.path ?? 'input'}`,
      cause: error,
    });
  }
}

/** Each model needs the actor's permission. */
async function authorize(
  actor: Actor,
  providerId: string,
  requests: readonly UserBatchRequest[],
  ports: AuthorizationPorts,
): Promise<void> {
  for (const model of new Set(requests.map((request) => request.model))) {
    const use = { providerId, tools: [], ...(model === undefined ? {} : { model }) };
    const budget = await authorizeUse(actor, use, ports);
    if (budget !== undefined)
      throw new LLMPermissionError(
        'What you may spend on a request is limited, which a batch cannot keep to. Send them singly.',
      );
  }
  const schemas = new Map<string, JsonObject>();
  for (const { schema } of requests) if (schema !== undefined) schemas.set(canonicalJson(schema), schema);
  for (const schema of schemas.values()) await assertUntrustedSchema(schema, actor.userId);
}

function toView({ batchId, providerId, state, counts, createdAt, endedAt, error }: UserBatch): BatchView {
  return {
    ...{ batchId, providerId, state, counts, createdAt },
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(error === undefined ? {} : { error }),
  };
}
