/**
 * Has batches of users answered in the batches of vendors. What a process leaves unfinished, another one goes on with:
 * requests are stored before anything is sent, and are submitted once.
 */
import type { UserBatch, UserBatchRequest, UserBatchResult } from '../domain/UserBatch';
import {
  ConflictError,
  isLLMError,
  isStoreOutage,
  LLMAbortedError,
  LLMServerError,
} from '../../ai/domain/errors/LLMErrors';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import type { BatchStore } from '../../ai/domain/interfaces/BatchStore';
import type { ILLMProvider } from '../../ai/domain/interfaces/ILLMProvider';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { UserBatchStore } from '../domain/UserBatchStore';
import type { AgenticLoop } from '../../ai/application/services/AgenticLoop';
import { LLMClient } from '../../ai/application/services/LLMClient';
import type { LeasedWork, LeasedWorkSource } from '../../ai/application/services/RunRecovery';
import type { BatchResult, LLMRequest } from '../../ai/application/services/batches/runBatch';
import { LeaseLostError } from '../../ai/domain/errors/LeaseLostError';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { runDetached } from '../../ai/application/services/shared/runDetached';
import type { VendorBatchSettings } from '../../ai/application/services/batches/vendorBatch';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

export interface UserBatchesOptions extends Pick<VendorBatchSettings, 'poll' | 'leaseMs' | 'graceMs'> {
  readonly store: UserBatchStore;
  readonly provider: ILLMProvider;
  /** Records what was done at the vendors. */
  readonly batchStore: BatchStore;
  readonly loop: Pick<AgenticLoop, 'leasedWork'>;
  readonly logger: Logger;
}

export class UserBatches implements LeasedWorkSource {
  private readonly options: UserBatchesOptions;
  /** Ids of the batches that this process works on. */
  private readonly driven = new Set<string>();
  private readonly stopping = new AbortController();

  constructor(options: UserBatchesOptions) {
    this.options = options;
  }

  /**
   * Resolves when the batch is stored; from then on it will be answered. A repeated request is the same batch.
   * @throws ConflictError if the user has another batch of that id; what the store throws
   */
  create(batch: UserBatch, requests: readonly UserBatchRequest[]): Promise<UserBatch> {
    const { store, loop } = this.options;
    return new Promise((resolve, reject) => {
      const work = async (): Promise<void> => {
        if (!(await store.insert(batch, requests, loop.leasedWork.ownerId))) {
          resolve(await this.same(batch, requests));
          return;
        }
        resolve(batch);
        await this.drive(batch);
      };
      // It outlives the request that creates it.
      runDetached(() => this.underLease(batch, work)).catch(reject);
    });
  }

  /** @returns the batch as it is then; undefined for one that the user does not have */
  async cancel(userId: string, batchId: string): Promise<UserBatch | undefined> {
    const { store } = this.options;
    await store.requestCancellation(userId, batchId);
    const batch = await store.find(userId, batchId);
    if (batch?.state === 'cancelling') await this.clientOf(batch).cancelBatch(batch.id);
    return batch;
  }

  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedWork[]> {
    const found = await this.options.store.leased(limit + this.driven.size, except);
    return found
      .filter(({ batch }) => !this.driven.has(batch.id))
      .map(({ batch, owner }) => ({ owner, recover: () => this.takeOver(batch, owner) }));
  }

  /** Leaves what has not ended to the next process. */
  stop(): void {
    this.stopping.abort(new LLMAbortedError('The process is shutting down.'));
  }

  private async takeOver(batch: UserBatch, from: string): Promise<void> {
    const { store, loop } = this.options;
    if (this.driven.has(batch.id) || this.stopping.signal.aborted) return;
    await this.underLease(batch, async () => {
      if (await store.claim(batch, from, loop.leasedWork.ownerId)) await this.drive(batch);
    });
  }

  private async underLease({ id }: UserBatch, work: () => Promise<void>): Promise<void> {
    this.driven.add(id);
    try {
      await this.options.loop.leasedWork.run(`batch ${id}`, work);
    } finally {
      this.driven.delete(id);
    }
  }

  /** @throws ConflictError */
  private async same(
    { userId, batchId, providerId }: UserBatch,
    requests: readonly UserBatchRequest[],
  ): Promise<UserBatch> {
    const { store } = this.options;
    const stored = await store.find(userId, batchId);
    const isSame =
      stored?.providerId === providerId && canonicalJson(await store.requests(stored)) === canonicalJson(requests);
    if (isSame) return stored;
    throw new ConflictError(`The batch id "${batchId}" was already used with other requests. Use a new id.`, {
      path: 'batchId',
    });
  }

  /** Never rejects. */
  private async drive(batch: UserBatch): Promise<void> {
    const { store, loop, logger } = this.options;
    const owner = loop.leasedWork.ownerId;
    try {
      const results = await this.resultsOf(batch);
      this.stopping.signal.throwIfAborted();
      const current = await store.find(batch.userId, batch.batchId);
      const state = current?.state === 'cancelling' ? 'cancelled' : 'completed';
      await store.end(batch, owner, { state, counts: countsOf(results) }, results);
    } catch (error) {
      if (this.stopping.signal.aborted || error instanceof LeaseLostError) await this.handOver(batch);
      else if (isStoreOutage(error)) logger.warn(`The batch "${batch.batchId}" goes on when the store is back.`, error);
      else await this.fail(batch, error);
    }
  }

  private async resultsOf(batch: UserBatch): Promise<readonly UserBatchResult[]> {
    const { store, poll, leaseMs, graceMs } = this.options;
    const requests = await store.requests(batch);
    const client = this.clientOf(batch);
    const current = await store.find(batch.userId, batch.batchId);
    const isBegun = current?.state !== 'cancelling' || (await client.cancelBatch(batch.id));
    if (!isBegun) return requests.map(() => toResult(new LLMAbortedError('The batch was cancelled.')));
    const results = await client.createBatch(
      // Boundary: some have schemas, and others none.
      requests.map((request) => toRequest(request, batch)) as readonly LLMRequest<undefined>[],
      {
        mode: 'vendor',
        batchId: batch.id,
        signal: this.stopping.signal,
        ...omitUndefined({ poll, leaseMs, graceMs }),
        // It may have been cancelled before there was anything to cancel.
        onStatus: () => void this.cancelLate(batch),
      },
    );
    return results.map(toResult);
  }

  private async cancelLate(batch: UserBatch): Promise<void> {
    try {
      const current = await this.options.store.find(batch.userId, batch.batchId);
      if (current?.state === 'cancelling') await this.clientOf(batch).cancelBatch(batch.id);
    } catch (error) {
      this.options.logger.warn(`Could not read whether the batch "${batch.batchId}" was cancelled.`, error);
    }
  }

  private async handOver(batch: UserBatch): Promise<void> {
    const { store, loop, logger } = this.options;
    try {
      await store.claim(batch, loop.leasedWork.ownerId, '');
    } catch (error) {
      logger.warn(`The batch "${batch.batchId}" is left to whoever finds it.`, error);
    }
  }

  private async fail(batch: UserBatch, thrown: unknown): Promise<void> {
    const { store, loop, logger } = this.options;
    logger.error(`The batch "${batch.batchId}" failed.`, thrown);
    const { code, message } = isLLMError(thrown) ? thrown : new LLMServerError('The batch failed unexpectedly.');
    const counts = { ...batch.counts, failed: batch.counts.total };
    try {
      await store.end(batch, loop.leasedWork.ownerId, { state: 'failed', counts, error: { code, message } }, []);
    } catch (error) {
      logger.error(`Could not record that the batch "${batch.batchId}" failed.`, error);
    }
  }

  private clientOf({ userId, providerId }: UserBatch): LLMClient {
    const { provider, batchStore, logger } = this.options;
    return new LLMClient({ provider, userId, model: providerId, batchStore, logger });
  }
}

function toRequest(
  { model, maxOutputTokens, reasoning, ...request }: UserBatchRequest,
  { providerId, origin }: UserBatch,
): LLMRequest {
  return omitUndefined({
    ...request,
    model: model === undefined ? providerId : `${providerId}/${model}`,
    max_output_tokens: maxOutputTokens,
    reasoning: reasoning && { effort: reasoning },
    origin,
  });
}

function toResult(result: BatchResult<unknown> | LLMError): UserBatchResult {
  if (isLLMError(result)) return { error: { code: result.code, message: result.message } };
  const { value, response } = result;
  const { cost } = response.vendor;
  return { value, model: response.model, usage: response.usage, ...omitUndefined({ cost }) };
}

function countsOf(results: readonly UserBatchResult[]): UserBatch['counts'] {
  const failed = results.filter((result) => 'error' in result).length;
  return { total: results.length, succeeded: results.length - failed, failed };
}
