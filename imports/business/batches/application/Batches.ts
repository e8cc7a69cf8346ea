/** The batches of users: requests that can wait. They belong to their user alone, also for admins. */
import { randomUUID } from 'node:crypto';
import { invalid } from '../../ai/domain/util/arguments';
import { isEnded } from '../domain/UserBatch';
import type { UserBatch, UserBatchRequest } from '../domain/UserBatch';
import { ConflictError, LLMPermissionError } from '../../ai/domain/errors/LLMErrors';
import { ObjectNotFoundError } from '../../ai/domain/errors/ObjectNotFoundError';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { UserBatchStore } from '../domain/UserBatchStore';
import type { Actor } from '../../ai/domain/types/Actor';
import type { BatchPage, BatchResultPage, BatchView } from '../domain/BatchViews';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import type { UserBatches } from './UserBatches';
import { assertUntrustedSchema } from '../../ai/application/services/schema/checkSchema';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { authorizeUse } from '../../ai/application/usecases/authorizeUse';
import type { AuthorizationPorts } from '../../ai/application/usecases/authorizeUse';
import { itemsFromUser, originOf } from '../../ai/application/usecases/RunLauncher';
import { under } from './readBatchRequest';
import { INPUT_LIMITS } from '../../ai/application/operations/readInput';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

export interface BatchPorts extends AuthorizationPorts {
  readonly batches: Pick<UserBatches, 'create' | 'cancel'>;
  readonly store: Pick<UserBatchStore, 'find' | 'list' | 'results'>;
  readonly logger: Logger;
}

export interface NewBatch {
  /** The client's: a repeated request is the same batch. */
  readonly batchId: string;
  readonly providerId: string;
  readonly requests: readonly UserBatchRequest[];
}

export class Batches {
  private readonly ports: BatchPorts;

  constructor(ports: BatchPorts) {
    this.ports = ports;
  }

  /** @throws LLMInvalidRequestError; LLMPermissionError; ConflictError for other requests with the same id */
  async create(actor: Actor, { batchId, providerId, requests: given }: NewBatch): Promise<BatchView> {
    const requests = given.map((request, index) => ({
      ...request,
      input: under(`requests[${index}]`, () => itemsFromUser(actor, request.input)),
    }));
    if (Buffer.byteLength(JSON.stringify(requests)) > INPUT_LIMITS.bytes)
      throw invalid('requests', `must be no larger than ${INPUT_LIMITS.bytes / 1e6} MB of JSON. Send several batches`);
    const batch: UserBatch = {
      ...{ id: randomUUID(), userId: actor.userId, batchId, providerId, origin: originOf(actor), state: 'running' },
      counts: { total: requests.length, succeeded: 0, failed: 0 },
      createdAt: Date.now(),
    };
    await this.authorize(actor, providerId, requests);
    return toView(await this.ports.batches.create(batch, requests));
  }

  /** @throws UnknownBatchError, as the others of one batch do */
  async get(actor: Actor, batchId: string): Promise<BatchView> {
    return toView(await this.find(actor, batchId));
  }

  async list({ userId }: Actor, page: Parameters<UserBatchStore['list']>[1]): Promise<BatchPage> {
    const found = await this.ports.store.list(userId, page);
    return { ...found, batches: found.batches.map(toView) };
  }

  /** What is answered keeps its result. */
  async cancel(actor: Actor, batchId: string): Promise<BatchView> {
    const batch = await this.find(actor, batchId);
    return toView((await this.ports.batches.cancel(actor.userId, batchId)) ?? batch);
  }

  /** @throws ConflictError for a batch that has not ended */
  async results(actor: Actor, batchId: string, from: number, limit: number): Promise<BatchResultPage> {
    const batch = await this.find(actor, batchId);
    if (!isEnded(batch))
      throw new ConflictError(`The batch "${batchId}" has not ended. Read its results later.`, { path: 'batchId' });
    const found = await this.ports.store.results(batch, from, limit);
    const results = found.flatMap((result, index) =>
      result === undefined ? [] : [{ index: from + index, ...result }],
    );
    const next = from + found.length;
    return next < batch.counts.total && found.length > 0 ? { results, next } : { results };
  }

  private async find({ userId }: Actor, batchId: string): Promise<UserBatch> {
    const batch = await this.ports.store.find(userId, batchId);
    if (batch === undefined) throw new UnknownBatchError();
    return batch;
  }

  /** Each model needs the actor's permission. */
  private async authorize(actor: Actor, providerId: string, requests: readonly UserBatchRequest[]): Promise<void> {
    for (const model of new Set(requests.map((request) => request.model))) {
      const use = omitUndefined({ providerId, tools: [], model });
      const budget = await authorizeUse(actor, use, this.ports);
      if (budget !== undefined)
        throw new LLMPermissionError(
          'What you may spend on a request is limited, which a batch cannot keep to. Send them singly.',
        );
    }
    const schemas = new Map<string, JsonObject>();
    for (const { schema } of requests) if (schema !== undefined) schemas.set(canonicalJson(schema), schema);
    for (const schema of schemas.values()) await assertUntrustedSchema(schema, actor.userId);
  }
}

/** A batch of another user is reported exactly like one that does not exist. */
export class UnknownBatchError extends ObjectNotFoundError {
  constructor() {
    super('There is no such batch.', { path: 'batchId' });
  }
}

function toView({ batchId, providerId, state, counts, createdAt, endedAt, error }: UserBatch): BatchView {
  return omitUndefined({ batchId, providerId, state, counts, createdAt, endedAt, error });
}
