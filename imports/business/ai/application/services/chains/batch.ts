/** Structured requests in bulk: limited concurrency, one lane per entity, each result at its request's index. */
import pLimit from 'p-limit';
import { LLMInvalidRequestError, LLMRateLimitError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { Logger } from '../../../domain/interfaces/Logger';
import { fieldsOf, isList, isObject } from '../../../domain/json';
import type { GenerateOptions, LLMInput } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { AnySchema } from '../schema/AnySchema';

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

export interface BatchOptions {
  /** How many requests run at once. Default 8. */
  readonly concurrency?: number;
  /** Aborts running requests. Requests that have not started fail with an `LLMAbortedError`. */
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
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new LLMInvalidRequestError('"concurrency" must be a positive integer.', { path: 'concurrency' });
  if (!isList(requests)) throw new LLMInvalidRequestError('"requests" must be a list.', { path: 'requests' });
  const results: BatchResult<T>[] = [];
  let done = 0;
  const run = async (index: number, request: LLMRequest): Promise<void> => {
    results[index] = await settle(withSignal(request, signal));
    done += 1;
    try {
      onProgress?.(done, requests.length);
    } catch (error) {
      logger.error('The onProgress callback of a batch failed.', error);
    }
  };
  const limit = pLimit(concurrency);
  await Promise.all(
    lanesOf(requests).map((lane) =>
      limit(async () => {
        for (const [index, request] of lane) await run(index, request);
      }),
    ),
  );
  const rateLimited = results.filter((result) => result instanceof LLMRateLimitError).length;
  if (rateLimited > 0) logger.warn(`${rateLimited} of the ${requests.length} requests of a batch were rate limited.`);
  return results;
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
