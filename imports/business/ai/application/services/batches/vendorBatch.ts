/** Requests in the batches of a vendor: prepared as single ones are, submitted together, answered within a day. */
import { randomBytes, randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { hasItem, rangesOf, withoutPart } from '../../../domain/entities/BatchRecord';
import type { BatchPart } from '../../../domain/entities/BatchRecord';
import { ConflictError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { BatchStore } from '../../../domain/interfaces/BatchStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { BatchedCall, BatchRequest, VendorBatchCounts } from '../../../domain/interfaces/VendorBatches';
import { canonicalJson } from '../../../domain/util/canonicalJson';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { BatchCollection } from './BatchCollection';
import { BatchJournal } from './BatchJournal';
import { BatchSubmission, isRefusal } from './BatchSubmission';
import { customIdOf, JoinedCalls } from './JoinedCalls';
import type { JoinedCall } from './JoinedCalls';
import type { Backoff } from './retryCalls';
import { watching } from '../../../domain/util/watching';

export interface VendorBatchStatus {
  readonly batchId: string;
  readonly providerId: string;
  readonly model: string;
  /** The vendor's id of the batch. */
  readonly vendorBatchId: string;
  readonly hasEnded: boolean;
  readonly counts: VendorBatchCounts;
}

export interface VendorBatchSettings {
  /** Names the batch: a later call with the same id and requests continues it. Default: a new id. */
  readonly batchId?: string;
  /** Called each time the state of a batch was read at the vendor. */
  readonly onStatus?: (status: VendorBatchStatus) => void;
  /** Milliseconds between two looks at a batch: at first, and at most. Default: 2,000 and 60,000. */
  readonly poll?: Partial<Backoff>;
  /** Milliseconds after which another process takes over the batch of a dead one. Default: 30,000. */
  readonly leaseMs?: number;
  /** Milliseconds within which a batch whose creation was cut off shows in the vendor's list. Default: 30,000. */
  readonly graceMs?: number;
}

export interface VendorBatchPorts extends VendorBatchSettings {
  readonly userId: string;
  readonly store: BatchStore;
  /** How many requests are prepared at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly logger: Logger;
}

/** What a request of a batch needs in addition to its options. */
export interface BatchPlace {
  readonly batch: BatchedCall;
  /** By which budgets recognize the call after a crash. */
  readonly turn: { readonly executionId: string; readonly iteration: 1 };
}

const DEFAULT_BACKOFF: Backoff = { first: 2_000, most: 60_000 };
const DEFAULT_LEASE_MS = 30_000;
const DEFAULT_GRACE_MS = 30_000;

/**
 * @param settle makes the call of the request, and never rejects
 * @throws ConflictError for a batch with another number of requests; what the store throws
 */
export async function runVendorBatch(
  size: number,
  settle: (index: number, place: BatchPlace) => Promise<unknown>,
  ports: VendorBatchPorts,
): Promise<void> {
  const { userId, store, logger, batchId = randomUUID(), leaseMs = DEFAULT_LEASE_MS } = ports;
  const stop = new AbortController();
  const given = ports.signal === undefined ? stop.signal : AbortSignal.any([ports.signal, stop.signal]);
  const journal = await BatchJournal.open({
    ...{ store, userId, batchId, requests: size, leaseMs, logger },
    signal: given,
  });
  const signal = AbortSignal.any([given, journal.lost]);
  const calls = new JoinedCalls(size, journal.record.parts);
  const onAbort = (): void => calls.end(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const settled = await prepare(size, settle, calls, { ...ports, batchId });
    try {
      if (calls.waiting.size > 0) await new VendorBatch(journal, calls, { ...ports, batchId, signal }).run();
    } catch (error) {
      calls.end(error);
    }
    await Promise.all(settled);
  } finally {
    signal.removeEventListener('abort', onAbort);
    await journal.close();
  }
}

/** Starts all calls. Resolves when each of them waits for its result, or has one without the batch. */
async function prepare(
  size: number,
  settle: (index: number, place: BatchPlace) => Promise<unknown>,
  calls: JoinedCalls,
  { batchId, concurrency }: VendorBatchPorts,
): Promise<readonly Promise<void>[]> {
  const limit = pLimit(concurrency);
  const settled: Promise<void>[] = [];
  const start = (index: number): Promise<unknown> => {
    const turn = { executionId: `batch:${batchId}/${index}`, iteration: 1 } as const;
    const call = settle(index, { batch: calls.callOf(index), turn }).then(() => calls.settled(index));
    settled.push(call);
    return Promise.race([calls.joined(index), call]);
  };
  await Promise.all(Array.from({ length: size }, (_, index) => limit(() => start(index))));
  return settled;
}

class VendorBatch {
  private readonly journal: BatchJournal;
  private readonly calls: JoinedCalls;
  private readonly ports: VendorBatchPorts & { readonly batchId: string; readonly signal: AbortSignal };

  constructor(
    journal: BatchJournal,
    calls: JoinedCalls,
    ports: VendorBatchPorts & { readonly batchId: string; readonly signal: AbortSignal },
  ) {
    this.journal = journal;
    this.calls = calls;
    this.ports = ports;
  }

  /** Resolves when every call has a result. @throws what ends the batch for all of them */
  async run(): Promise<void> {
    const known = await Promise.all(this.journal.record.parts.map((part) => this.resume(part)));
    const rest = [...this.calls.waiting.values()].filter(
      ({ index }) => !known.flat().some((each) => hasItem(each, index)),
    );
    const parts = [
      ...known.flat().map((part) => this.collect(part)),
      ...partsOf(rest, (call) => this.calls.fail(call.index, tooLarge(call))).map((calls) => this.start(calls)),
    ];
    const outcomes = await Promise.allSettled(parts);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** A part that an earlier process has begun. @returns nothing if it was never submitted */
  private async resume(part: BatchPart): Promise<readonly SubmittedPart[]> {
    if (isSubmitted(part)) return [part];
    const call = this.firstOf(part);
    // The part's requests are refused now, for example by a budget. A later call may find out what became of it.
    if (call === undefined) return [];
    const found = await this.submission(call.request).find(part);
    if (found === undefined) await this.journal.change((record) => withoutPart(record, part));
    return found === undefined ? [] : [found];
  }

  private async start(calls: readonly JoinedCall[]): Promise<void> {
    const [first] = calls;
    if (first === undefined) return;
    const { request } = first;
    const { api, providerId, wire, model, headers } = request;
    const marker = randomBytes(16).toString('base64url');
    const part = { marker, providerId, wire, model, items: rangesOf(calls.map(({ index }) => index)) };
    const lines = calls.map((call) => api.encode(customIdOf(marker, call), call.request.body));
    let submitted: SubmittedPart;
    try {
      submitted = await this.submission(request).submit(part, omitUndefined({ model, lines, headers }));
    } catch (error) {
      this.ports.signal.throwIfAborted();
      // After other failures, a later call looks for it.
      if (this.wasNeverRequested(marker) || isRefusal(error))
        await this.journal.change((record) => withoutPart(record, part));
      for (const { index } of calls) this.calls.fail(index, error);
      return;
    }
    await this.collect(submitted);
  }

  private async collect(part: SubmittedPart): Promise<void> {
    const call = this.firstOf(part);
    if (call === undefined) {
      this.failAll(part, new ConflictError(`These requests are in a batch of the provider "${part.providerId}".`));
      return;
    }
    const { journal, calls, ports } = this;
    const { batchId, onStatus, logger, signal } = ports;
    const { providerId, model, vendorBatchId } = part;
    const report = onStatus && watching('onStatus', onStatus, logger);
    const collection = new BatchCollection(part, {
      ...{ api: call.request.api, journal, calls, logger, signal, backoff: this.backoff },
      onState: (_, { hasEnded, counts }) => report?.({ batchId, providerId, model, vendorBatchId, hasEnded, counts }),
    });
    try {
      await collection.run();
    } catch (error) {
      signal.throwIfAborted();
      // The batch goes on at the vendor, and the other parts here.
      this.failAll(part, error);
    }
  }

  private failAll(part: BatchPart, error: unknown): void {
    for (const index of [...this.calls.waiting.keys()]) if (hasItem(part, index)) this.calls.fail(index, error);
  }

  private get backoff(): Backoff {
    return { ...DEFAULT_BACKOFF, ...this.ports.poll };
  }

  private submission({ api }: BatchRequest): BatchSubmission {
    const { signal, graceMs = DEFAULT_GRACE_MS } = this.ports;
    return new BatchSubmission({ api, journal: this.journal, backoff: this.backoff, graceMs, signal });
  }

  private firstOf(part: BatchPart): JoinedCall | undefined {
    for (const call of this.calls.waiting.values())
      if (hasItem(part, call.index) && call.request.providerId === part.providerId) return call;
    return undefined;
  }

  private wasNeverRequested(marker: string): boolean {
    return this.journal.record.parts.find((each) => each.marker === marker)?.requestedAt === undefined;
  }
}

type SubmittedPart = BatchPart & { readonly vendorBatchId: string };

function isSubmitted(part: BatchPart): part is SubmittedPart {
  return part.vendorBatchId !== undefined;
}

/** Characters of a custom id, with room for what surrounds it. */
const ENVELOPE_BYTES = 128;

/** Vendors take the requests of one model in one batch, and so many of them. */
function partsOf(
  calls: readonly JoinedCall[],
  onTooLarge: (call: JoinedCall) => void,
): readonly (readonly JoinedCall[])[] {
  const open = new Map<string, { calls: JoinedCall[]; bytes: number }>();
  const full: JoinedCall[][] = [];
  for (const call of calls) {
    const { providerId, wire, model, headers, api, body } = call.request;
    const bytes = Buffer.byteLength(JSON.stringify(body)) + ENVELOPE_BYTES;
    if (bytes > api.limits.bytes) {
      onTooLarge(call);
      continue;
    }
    const key = canonicalJson([providerId, wire, model, headers]);
    let part = open.get(key);
    if (part !== undefined && (part.calls.length >= api.limits.requests || part.bytes + bytes > api.limits.bytes)) {
      full.push(part.calls);
      part = undefined;
    }
    part ??= { calls: [], bytes: 0 };
    part.calls.push(call);
    part.bytes += bytes;
    open.set(key, part);
  }
  return [...full, ...[...open.values()].map((part) => part.calls)];
}

function tooLarge({ request: { vendor, api } }: JoinedCall): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`The request is larger than a batch may be (${api.limits.bytes} bytes).`, {
    vendor,
    path: 'input',
  });
}
