/**
 * Submits one batch to a vendor once. What is about to be done is recorded before it is done, so that whoever continues
 * after a crash looks for the batch at the vendor before submitting it again.
 */
import { withPart } from '../../../domain/entities/BatchRecord';
import type { BatchPart } from '../../../domain/entities/BatchRecord';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { NewVendorBatch, VendorBatchApi } from '../../../domain/interfaces/VendorBatches';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { BatchJournal } from './BatchJournal';
import { Pauses, retryableError, withRetries } from './retryCalls';
import type { Backoff } from './retryCalls';

export interface BatchSubmissionPorts {
  readonly api: VendorBatchApi;
  readonly journal: BatchJournal;
  readonly backoff: Backoff;
  /** Milliseconds within which a created batch shows in the vendor's list. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

type SubmittedPart = BatchPart & { readonly vendorBatchId: string };

/** How often an upload or a creation is attempted before it has failed. */
const ATTEMPTS = 5;

export class BatchSubmission {
  private readonly ports: BatchSubmissionPorts;

  constructor(ports: BatchSubmissionPorts) {
    this.ports = ports;
  }

  /** @throws LLMError if the vendor rejects it; it is then not submitted */
  async submit(given: BatchPart, batch: Omit<NewVendorBatch, 'marker' | 'fileId'>): Promise<SubmittedPart> {
    const { api, signal, backoff } = this.ports;
    let part = await this.save(given);
    if (api.upload !== undefined && part.fileId === undefined) {
      const upload = api.upload.bind(api);
      const { marker } = part;
      const pauses = new Pauses(backoff, signal);
      const fileId = await withRetries(() => upload({ ...batch, marker }, signal), pauses, ATTEMPTS);
      part = await this.save({ ...part, fileId });
    }
    const pauses = new Pauses(backoff, signal);
    for (let attempts = 1; ; attempts += 1) {
      const now = Date.now();
      part = await this.save({ ...part, requestedAt: part.requestedAt ?? now, lastRequestedAt: now });
      const { marker, fileId } = part;
      try {
        const created = await api.create(omitUndefined({ ...batch, marker, fileId }), signal);
        return await this.identified(part, created.id);
      } catch (error) {
        signal.throwIfAborted();
        const found = isRefusal(error) ? undefined : await this.find(part);
        if (found !== undefined) return found;
        const failure = retryableError(error);
        if (failure === undefined || attempts >= ATTEMPTS) throw error;
        await pauses.wait(failure.retryAfterMs);
      }
    }
  }

  /** Looks for a batch whose creation was requested. Waits as long as it may yet show. */
  async find(part: BatchPart): Promise<SubmittedPart | undefined> {
    const { api, signal, backoff, graceMs } = this.ports;
    const { marker, requestedAt, lastRequestedAt = 0 } = part;
    if (requestedAt === undefined) return undefined;
    const requests = part.items.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const pauses = new Pauses(backoff, signal);
    for (;;) {
      // The answer counts for what was there when the vendor was asked.
      const mayShow = Date.now() < lastRequestedAt + graceMs;
      const looked = { marker, since: requestedAt, requests };
      const found = await withRetries(() => api.find(looked, signal), new Pauses(backoff, signal));
      if (found !== undefined && found !== 'undecided') return this.identified(part, found.id);
      if (found === undefined && !mayShow) return undefined;
      await pauses.wait();
    }
  }

  private async identified(part: BatchPart, vendorBatchId: string): Promise<SubmittedPart> {
    const identified = { ...part, vendorBatchId };
    await this.save(identified);
    return identified;
  }

  private async save(part: BatchPart): Promise<BatchPart> {
    await this.ports.journal.change((record) => withPart(record, part));
    return part;
  }
}

/** A vendor that answers so has created nothing. */
export function isRefusal(error: unknown): boolean {
  return isLLMError(error) && error.status !== undefined && error.status < 500;
}
