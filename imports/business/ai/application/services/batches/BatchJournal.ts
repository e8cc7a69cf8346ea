/** The record of one batch, in the hands of one process at a time. */
import { randomUUID } from 'node:crypto';
import type { BatchRecord } from '../../../domain/entities/BatchRecord';
import { ConflictError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { BatchStore } from '../../../domain/interfaces/BatchStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import { runDetached } from '../shared/runDetached';
import { sleep } from '../shared/time';

export interface BatchJournalOptions {
  readonly store: BatchStore;
  readonly userId: string;
  readonly batchId: string;
  /** How many requests the batch has. */
  readonly requests: number;
  /** Milliseconds after which another process takes over the batch of a dead one. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

type Identity = Pick<BatchRecord, 'userId' | 'batchId'>;

/** Milliseconds between looks at a batch that another process works on. */
const CLAIM_INTERVAL_MS = 1_000;

export class BatchJournal {
  private readonly options: BatchJournalOptions;
  private readonly loss = new AbortController();
  private current: BatchRecord;
  private last: Promise<unknown> = Promise.resolve();
  private timer: ReturnType<typeof setInterval> | undefined;

  private constructor(options: BatchJournalOptions, record: BatchRecord) {
    this.options = options;
    this.current = record;
    this.timer = runDetached(() => setInterval(() => this.renew(), options.leaseMs / 3).unref());
  }

  /**
   * Waits while another process works on the batch.
   * @throws ConflictError if the batch has another number of requests; what the store throws
   */
  static async open(options: BatchJournalOptions): Promise<BatchJournal> {
    const { store, userId, batchId, requests, leaseMs, signal } = options;
    const owner = randomUUID();
    for (;;) {
      const now = Date.now();
      const lease = { owner, leasedUntil: now + leaseMs };
      const known = await store.find(userId, batchId);
      if (known === undefined) {
        const record = { userId, batchId, revision: 1, ...lease, createdAt: now, requests, parts: [] };
        if (await store.insert(record)) return new BatchJournal(options, record);
        continue;
      }
      if (known.requests !== requests)
        throw new ConflictError(
          `The batch "${batchId}" has ${known.requests} requests, and was now called with ${requests}. Call it with the same ones, or give these another id.`,
        );
      if (known.leasedUntil > now) await sleep(Math.min(CLAIM_INTERVAL_MS, known.leasedUntil - now), signal);
      else {
        const claimed = { ...known, ...lease, revision: known.revision + 1 };
        if (await store.replace(claimed, known.revision)) return new BatchJournal(options, claimed);
      }
    }
  }

  get record(): BatchRecord {
    return this.current;
  }

  /** Aborts when another process has taken over, or the record can no longer be written. */
  get lost(): AbortSignal {
    return this.loss.signal;
  }

  /** @throws ConflictError if another process has taken over; what the store throws */
  change(update: (record: BatchRecord) => BatchRecord): Promise<BatchRecord> {
    const changed = this.last.then(() => this.write(update));
    this.last = changed.catch(() => undefined);
    return changed;
  }

  /** Lets another process continue at once. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    if (this.loss.signal.aborted) return;
    try {
      await this.change((record) => ({ ...record, leasedUntil: 0 }));
    } catch (error) {
      this.options.logger.warn(`Could not release the batch "${this.options.batchId}".`, error);
    }
  }

  private async write(update: (record: BatchRecord) => BatchRecord): Promise<BatchRecord> {
    const { store, leaseMs, userId, batchId } = this.options;
    for (;;) {
      const { revision, owner } = this.current;
      const leased = { ...this.current, leasedUntil: Date.now() + leaseMs };
      const record = { ...update(leased), revision: revision + 1 };
      if (await store.replace(record, revision)) return (this.current = record);
      const stored = await store.find(userId, batchId);
      if (stored?.owner !== owner) {
        const error = new ConflictError(`Another process has taken over the batch "${batchId}".`);
        this.loss.abort(error);
        throw error;
      }
      // The record has changed, since a cancellation was requested meanwhile.
      this.current = stored;
    }
  }

  private renew(): void {
    this.change((record) => record).catch((error: unknown) => {
      // A store that is down for a moment loses nothing: whoever takes over changes the owner.
      if (!isLLMError(error) || error.code !== 'conflict')
        this.options.logger.warn(`Could not renew the lease of the batch "${this.options.batchId}".`, error);
    });
  }
}

/** @returns false if there is no such batch @throws what the store throws */
export async function requestCancellation(store: BatchStore, { userId, batchId }: Identity): Promise<boolean> {
  for (;;) {
    const record = await store.find(userId, batchId);
    if (record === undefined) return false;
    if (record.isCancelled === true) return true;
    if (await store.replace({ ...record, isCancelled: true, revision: record.revision + 1 }, record.revision))
      return true;
  }
}
