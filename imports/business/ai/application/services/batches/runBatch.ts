/** Structured requests in bulk: limited concurrency, one lane per entity, each result at its request's index. */
import pLimit from 'p-limit';
import { LLMInvalidRequestError, LLMRateLimitError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { Logger } from '../../../domain/interfaces/Logger';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import type { GenerateOptions, LLMInput } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { runVendorBatch } from './vendorBatch';
import type { BatchPlace, VendorBatchPorts, VendorBatchSettings } from './vendorBatch';
import type { AnySchema } from '../../../domain/types/Schemas';
import { watching } from '../../../domain/util/watching';

/** With a chain, the chain sets `store` and `previous_response_id`. */
export interface LLMRequest<Schema = AnySchema | undefined> extends Omit<GenerateOptions, 'response_format' | 'input'> {
  readonly input?: LLMInput;
  /** Another name of `input`. An object is sent as JSON. */
  readonly inputData?: LLMInput | JsonObject;
  /**
   * A SimpleSchema, a JSON Schema or any Standard Schema for the value. Without one, the value is the response's
   * text.
   */
  readonly schema?: Schema;
  /** `"{chain}:{entityId}"`: the chain that the request continues, and the entity that its usage is added to. */
  readonly entityKey?: string;
  /** How many responses the chain holds afterwards. Default: the client's depth. 0 leaves the chain unchanged. */
  readonly depthOverride?: number;
}

export interface BatchSuccess<T> {
  readonly ok: true;
  readonly value: T;
  readonly response: LLMResponse;
}

/** Distinguish the two with `isLLMError`, or with `'ok' in result`. */
export type BatchResult<T> = BatchSuccess<T> | LLMError;

export interface BatchOptions extends VendorBatchSettings {
  /**
   * `vendor`: in the vendor's own batches, which cost half and are answered within 24 hours; see `VendorBatchSettings`.
   * Default: as single requests, at once.
   */
  readonly mode?: 'single' | 'vendor';
  /** How many requests run at once; of a vendor's batch, how many are prepared at once. Default 8. */
  readonly concurrency?: number;
  /**
   * Aborts running requests. Requests that have not started fail with an `LLMAbortedError`. A vendor's batch goes on,
   * and is continued by a later call with the same `batchId`.
   */
  readonly signal?: AbortSignal;
  /** Called after each request, whether it succeeded or failed. */
  readonly onProgress?: (done: number, total: number) => void;
}

const DEFAULT_CONCURRENCY = 8;

/**
 * @param settle never rejects
 * @throws LLMInvalidRequestError if `requests` is no list or `concurrency` is not a positive integer
 */
export async function runBatch<T>(
  requests: readonly LLMRequest[],
  settle: (request: LLMRequest) => Promise<BatchResult<T>>,
  { concurrency = DEFAULT_CONCURRENCY, signal, onProgress }: BatchOptions,
  logger: Logger,
): Promise<BatchResult<T>[]> {
  assertBatch(requests, concurrency);
  const results: BatchResult<T>[] = [];
  let done = 0;
  const report = onProgress && watching('onProgress', onProgress, logger);
  const run = async (index: number, request: LLMRequest): Promise<void> => {
    results[index] = await settle(withSignal(request, signal));
    done += 1;
    report?.(done, requests.length);
  };
  const limit = pLimit(concurrency);
  await Promise.all(
    lanesOf(requests).map((lane) =>
      limit(async () => {
        for (const [index, request] of lane) await run(index, request);
      }),
    ),
  );
  warnOfRateLimits(results, logger);
  return results;
}

/**
 * Runs requests as `runBatch` does, in the batches of vendors.
 * @param settle never rejects
 * @throws what `runBatch` throws; ConflictError for a known batch with another number of requests; what the store
 *   throws
 */
export async function runInVendorBatch<T>(
  requests: readonly LLMRequest[],
  settle: (request: LLMRequest, place: BatchPlace) => Promise<BatchResult<T>>,
  { concurrency = DEFAULT_CONCURRENCY, signal, onProgress, ...settings }: BatchOptions,
  ports: Pick<VendorBatchPorts, 'userId' | 'store' | 'logger'>,
): Promise<BatchResult<T>[]> {
  assertBatch(requests, concurrency);
  const { logger } = ports;
  const keys = new Set<string>();
  const results: BatchResult<T>[] = [];
  let done = 0;
  const report = onProgress && watching('onProgress', onProgress, logger);
  const run = async (index: number, place: BatchPlace): Promise<void> => {
    // Boundary: callers without types pass anything.
    const request = requests[index] as LLMRequest;
    const { entityKey } = fieldsOf(request) as Partial<LLMRequest>;
    const isTaken = entityKey !== undefined && keys.has(entityKey);
    if (entityKey !== undefined) keys.add(entityKey);
    results[index] = isTaken ? sameEntity(entityKey) : await settle(withSignal(request, signal), place);
    done += 1;
    report?.(done, requests.length);
  };
  if (requests.length > 0) await runVendorBatch(requests.length, run, { ...settings, ...ports, concurrency, signal });
  warnOfSingles(results, logger);
  return results;
}

/** Such as corrections of invalid JSON, and whatever a provider from outside answers. */
function warnOfSingles(results: readonly BatchResult<unknown>[], logger: Logger): void {
  const single = results.filter(
    (result) =>
      'ok' in result && result.response.vendor.batch_id === undefined && result.response.vendor.cached !== true,
  ).length;
  if (single > 0)
    logger.warn(`${single} of the ${results.length} requests of a batch were answered singly, at the usual price.`);
}

function sameEntity(entityKey: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(
    `An earlier request of the batch has the entity key "${entityKey}", too. The requests of a vendor's batch are answered in any order: put this one into a later batch.`,
    { path: 'entityKey' },
  );
}

/** @throws LLMInvalidRequestError */
function assertBatch(requests: unknown, concurrency: number): void {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new LLMInvalidRequestError('"concurrency" must be a positive integer.', { path: 'concurrency' });
  if (!isList(requests)) throw new LLMInvalidRequestError('"requests" must be a list.', { path: 'requests' });
}

function warnOfRateLimits(results: readonly BatchResult<unknown>[], logger: Logger): void {
  const rateLimited = results.filter((result) => result instanceof LLMRateLimitError).length;
  if (rateLimited > 0) logger.warn(`${rateLimited} of the ${results.length} requests of a batch were rate limited.`);
}

type Lane = [index: number, request: LLMRequest][];

/**
 * Requests with the same `entityKey` share a lane. A lane occupies one concurrency slot from its first request to its
 * last, so that an entity's waiting requests never block others.
 */
function lanesOf(requests: readonly LLMRequest[]): readonly Lane[] {
  const lanes: Lane[] = [];
  const byKey = new Map<string, Lane>();
  for (const [index, request] of requests.entries()) {
    const { entityKey } = fieldsOf(request) as Partial<LLMRequest>;
    const existing = entityKey === undefined ? undefined : byKey.get(entityKey);
    if (existing !== undefined) {
      existing.push([index, request]);
      continue;
    }
    const lane: Lane = [[index, request]];
    lanes.push(lane);
    if (entityKey !== undefined) byKey.set(entityKey, lane);
  }
  return lanes;
}

function withSignal(request: LLMRequest, signal: AbortSignal | undefined): LLMRequest {
  const given: unknown = request;
  if (signal === undefined || !isObject(given)) return request;
  return { ...request, signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]) };
}
