/** The calls of a batch: each waits here, as a provider has prepared it, until the vendor has answered it. */
import { createHash } from 'node:crypto';
import { hasItem } from '../../../domain/entities/BatchRecord';
import type { BatchPart } from '../../../domain/entities/BatchRecord';
import { ConflictError, LLMAbortedError, LLMServerError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
import type { BatchedCall, BatchRequest, VendorBatchResult } from '../../../domain/interfaces/VendorBatches';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { canonicalJson } from '../../../domain/util/canonicalJson';
import { IndexSet } from './IndexSet';

interface Answer {
  readonly body: JsonObject;
  readonly batchId: string;
}

export interface JoinedCall {
  readonly index: number;
  readonly request: BatchRequest;
  /** The digest of the request's body. */
  readonly digest: string;
  readonly answer: (answer: Answer) => void;
  readonly fail: (reason: unknown) => void;
  /** Resolves when its result was counted and returned to its caller. */
  readonly settled: Promise<void>;
}

interface Slot {
  readonly join: (call: JoinedCall) => void;
  readonly joined: Promise<JoinedCall>;
  readonly settle: () => void;
  readonly settled: Promise<void>;
}

export class JoinedCalls {
  /** Calls that have no result yet, by index. */
  readonly waiting = new Map<number, JoinedCall>();
  private readonly slots: readonly Slot[];
  private readonly parts: readonly BatchPart[];
  private readonly counted: ReadonlyMap<BatchPart, IndexSet>;
  private ending: { readonly reason: Error } | undefined;

  /** @param parts those that earlier processes have begun */
  constructor(size: number, parts: readonly BatchPart[]) {
    this.parts = parts;
    this.slots = Array.from({ length: size }, createSlot);
    this.counted = new Map(parts.map((part) => [part, new IndexSet(size, part.counted)]));
  }

  callOf(index: number): BatchedCall {
    const part = this.parts.find((each) => each.vendorBatchId !== undefined && hasItem(each, index));
    return {
      isSubmitted: part !== undefined,
      isCounted: part !== undefined && this.counted.get(part)?.has(index) === true,
      exchange: (request) => this.exchange(index, request),
    };
  }

  /** Resolves when the call waits for its result. */
  joined(index: number): Promise<unknown> {
    return this.slots[index]?.joined ?? Promise.resolve();
  }

  /** For a call that was returned to its caller. */
  settled(index: number): void {
    this.slots[index]?.settle();
  }

  /** Fails all calls that wait, and those that come. */
  end(reason: unknown): void {
    this.ending = { reason: reason instanceof Error ? reason : new LLMAbortedError('The batch was left.') };
    for (const index of this.waiting.keys()) this.fail(index, reason);
  }

  fail(index: number, reason: unknown): void {
    this.waiting.get(index)?.fail(reason);
    this.waiting.delete(index);
  }

  private exchange(index: number, request: BatchRequest): Promise<Answer> {
    const slot = this.slots[index];
    if (slot === undefined || this.ending !== undefined)
      return Promise.reject(this.ending?.reason ?? new LLMServerError('The batch has no such request.'));
    return new Promise<Answer>((resolve, reject) => {
      const digest = digestOf(request.body);
      const call = { index, request, digest, answer: resolve, fail: reject, settled: slot.settled };
      this.waiting.set(index, call);
      slot.join(call);
    });
  }
}

function createSlot(): Slot {
  let join: Slot['join'] = () => undefined;
  let settle: Slot['settle'] = () => undefined;
  const joined = new Promise<JoinedCall>((resolve) => (join = resolve));
  const settled = new Promise<void>((resolve) => (settle = resolve));
  return { join, joined, settle, settled };
}

/** Hashes a body to 96 bits. */
function digestOf(body: JsonObject): string {
  return createHash('sha256').update(canonicalJson(body)).digest('base64url').slice(0, 16);
}

/** At most 46 of `A-Za-z0-9_-`; Anthropic takes 64. */
export function customIdOf(marker: string, { index, digest }: Pick<JoinedCall, 'index' | 'digest'>): string {
  return `${marker}-${index}-${digest}`;
}

/** @returns undefined for an id that is not of this batch */
export function readCustomId(
  marker: string,
  customId: string,
): { readonly index: number; readonly digest: string } | undefined {
  const [, index, digest] = customId.startsWith(`${marker}-`)
    ? (/^(\d{1,9})-([\w-]{16})$/.exec(customId.slice(marker.length + 1)) ?? ['', undefined, undefined])
    : [];
  return index === undefined || digest === undefined ? undefined : { index: Number(index), digest };
}

/** Hands the vendor's result to the call. */
export function deliver(
  { answer, fail, request: { vendor }, digest }: JoinedCall,
  { outcome }: VendorBatchResult,
  of: { readonly batchId: string; readonly digest: string },
): void {
  const { batchId } = of;
  if (of.digest !== digest)
    fail(
      new ConflictError(
        `The batch has another request here than it was submitted with (the batch "${batchId}" at the vendor). Call it with the same requests, or give these another id.`,
      ),
    );
  else if ('body' in outcome) answer({ body: outcome.body, batchId });
  else if ('ending' in outcome) fail(unanswered(outcome.ending, vendor, batchId));
  else fail(failedRequest(vendor, outcome));
}

/** For a request that has no result when its batch has ended. */
export function unanswered(
  ending: 'completed' | 'expired' | 'cancelled' | 'failed',
  vendor: string,
  batchId: string,
): LLMTimeoutError | LLMAbortedError | LLMServerError {
  if (ending === 'expired')
    return new LLMTimeoutError(`The batch "${batchId}" expired before this request was answered.`, { vendor });
  if (ending === 'cancelled')
    return new LLMAbortedError(`The batch "${batchId}" was cancelled before this request was answered.`, { vendor });
  return new LLMServerError(`The batch "${batchId}" ended without a result for this request.`, {
    vendor,
    retryable: true,
  });
}

function failedRequest(
  vendor: string,
  { status, errorBody }: Extract<VendorBatchResult['outcome'], { errorBody: unknown }>,
): Error {
  return vendorError({ vendor, status, body: errorBody });
}
