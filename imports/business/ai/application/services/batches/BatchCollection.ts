/** Waits for one batch at a vendor, and hands its results to the calls that wait for them. */
import { createHash } from 'node:crypto';
import { hasItem, withPart } from '../../../domain/entities/BatchRecord';
import type { BatchPart } from '../../../domain/entities/BatchRecord';
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { VendorBatchApi, VendorBatchState } from '../../../domain/interfaces/VendorBatches';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { BatchJournal } from './BatchJournal';
import { IndexSet } from './IndexSet';
import { deliver, readCustomId, unanswered } from './JoinedCalls';
import type { JoinedCall, JoinedCalls } from './JoinedCalls';
import { Pauses, withRetries } from './retryCalls';
import type { Backoff } from './retryCalls';

export interface BatchCollectionPorts {
  readonly api: VendorBatchApi;
  readonly journal: BatchJournal;
  readonly calls: JoinedCalls;
  readonly backoff: Backoff;
  readonly onState: (part: BatchPart, state: VendorBatchState) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Readings after which the same results are final, which takes six minutes: the error page of an outage is shorter. */
const ALIKE_READINGS = 14;
/** Results that are handed over and not yet returned to their callers. */
const MAX_UNSETTLED = 16;
/**
 * Results after which is recorded whose usage is counted. Fewer than the turns that a budget remembers as paid, so that
 * it recognizes those that a crash leaves unrecorded.
 */
const COUNTED_AT_ONCE = 50;

export class BatchCollection {
  private readonly ports: BatchCollectionPorts;
  private readonly part: BatchPart & { readonly vendorBatchId: string };
  private readonly counted: IndexSet;
  private readonly unsettled = new Set<Promise<void>>();
  private unrecorded = 0;

  constructor(part: BatchPart & { readonly vendorBatchId: string }, ports: BatchCollectionPorts) {
    this.part = part;
    this.ports = ports;
    this.counted = new IndexSet(ports.journal.record.requests, part.counted);
  }

  /** Resolves when each of its calls has a result. @throws LLMError if its state or its results cannot be read */
  async run(): Promise<void> {
    const { calls } = this.ports;
    const state = await this.waitForEnd();
    const unreadable = await this.readResults(state);
    await Promise.all(this.unsettled);
    const { vendorBatchId } = this.part;
    for (const [index, { request }] of [...calls.waiting]) {
      if (!hasItem(this.part, index)) continue;
      if (unreadable !== undefined) {
        // It is not counted: a later call may read it.
        calls.fail(index, unreadable);
        continue;
      }
      calls.fail(index, state.error ?? unanswered(state.ending ?? 'completed', request.vendor, vendorBatchId));
      this.counted.add(index);
    }
    await this.record(state.counts, unreadable === undefined ? Date.now() : undefined);
  }

  /** @returns why calls have no result, if lines of the results remain unreadable */
  private async readResults(state: VendorBatchState): Promise<LLMStreamError | undefined> {
    const { calls, backoff, signal, logger } = this.ports;
    const { vendorBatchId: id } = this.part;
    const pauses = new Pauses(backoff, signal);
    let last = '';
    for (let alike = 1; ; alike += 1) {
      // Results that were handed over before the connection broke are skipped.
      const { unreadable, digest } = await withRetries(() => this.handOver(state), new Pauses(backoff, signal));
      const isWaiting = [...calls.waiting.keys()].some((index) => hasItem(this.part, index));
      if (unreadable === 0 || !isWaiting) return undefined;
      const fault = `The results of the batch "${id}" have ${unreadable} ${unreadable === 1 ? 'line that is' : 'lines that are'} not JSON`;
      if (digest !== last) {
        alike = 1;
        logger.warn(`${fault}. They are read again until they are complete, or the same ${ALIKE_READINGS} times.`);
      }
      last = digest;
      if (alike === ALIKE_READINGS)
        return new LLMStreamError(
          `${fault}, and none for this request. Call again with the same "batchId" to read them again, or look at them at the vendor.`,
          { retryable: false },
        );
      await pauses.wait();
    }
  }

  private async waitForEnd(): Promise<VendorBatchState> {
    const { api, journal, onState, backoff, signal, logger } = this.ports;
    const { vendorBatchId } = this.part;
    const pauses = new Pauses(backoff, signal);
    let isCancelling = false;
    for (;;) {
      const { isCancelled } = await journal.change((record) => record);
      if (isCancelled === true && !isCancelling) {
        await withRetries(() => api.cancel(vendorBatchId, signal), new Pauses(backoff, signal));
        isCancelling = true;
      }
      const state = await withRetries(() => api.read(vendorBatchId, signal), new Pauses(backoff, signal));
      await journal.change((record) => withPart(record, this.partWith(state.counts)));
      onState(this.part, state);
      if (state.hasEnded) {
        logger.debug(`The batch "${vendorBatchId}" has ended.`, { ...state.counts, ending: state.ending });
        return state;
      }
      await pauses.wait();
    }
  }

  /** @returns how many lines of the results are not JSON, and a digest of all of them */
  private async handOver(state: VendorBatchState): Promise<{ readonly unreadable: number; readonly digest: string }> {
    const { api, calls, signal } = this.ports;
    const { marker, vendorBatchId: batchId } = this.part;
    const digest = createHash('sha256');
    let unreadable = 0;
    for await (const result of state.outputs.length === 0 ? [] : api.results(state, signal)) {
      digest.update(JSON.stringify('unreadable' in result ? result.unreadable : [result.customId]));
      if ('unreadable' in result) {
        unreadable += 1;
        continue;
      }
      const named = readCustomId(marker, result.customId);
      const call = named === undefined ? undefined : calls.waiting.get(named.index);
      if (named === undefined || call === undefined) continue;
      calls.waiting.delete(call.index);
      deliver(call, result, { batchId, digest: named.digest });
      await this.follow(call, state);
    }
    return { unreadable, digest: digest.digest('hex') };
  }

  /** Lets few results be in progress at once, so that the others need not be in memory. */
  private async follow({ index, settled }: JoinedCall, state: VendorBatchState): Promise<void> {
    const following = settled.then(() => {
      this.counted.add(index);
      this.unrecorded += 1;
      this.unsettled.delete(following);
    });
    this.unsettled.add(following);
    if (this.unsettled.size >= MAX_UNSETTLED) await Promise.race(this.unsettled);
    if (this.unrecorded >= COUNTED_AT_ONCE) await this.record(state.counts, undefined);
  }

  private async record(counts: VendorBatchState['counts'], endedAt: number | undefined): Promise<void> {
    this.unrecorded = 0;
    const part = { ...this.partWith(counts), ...omitUndefined({ endedAt }) };
    await this.ports.journal.change((record) => withPart(record, part));
  }

  private partWith(counts: VendorBatchState['counts']): BatchPart {
    return { ...this.part, counts, counted: this.counted.toString() };
  }
}
