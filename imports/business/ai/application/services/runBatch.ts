/** Many requests at once: bounded, in lanes, every one answered in its own place. */
import pLimit from 'p-limit';
import { LLMInvalidRequestError, LLMRateLimitError } from '../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../domain/json';
import type { Logger } from '../../domain/interfaces/Logger';
import type { BatchOptions, BatchResult, LLMRequest } from './chains/LLMRequest';

const DEFAULT_CONCURRENCY = 8;

/**
 * @param settle never rejects
 * @throws LLMInvalidRequestError for what is no list, and for a concurrency that is no whole number from 1
 */
export async function runBatch<T>(
  requests: readonly LLMRequest[],
  settle: (request: LLMRequest) => Promise<BatchResult<T>>,
  { concurrency = DEFAULT_CONCURRENCY, signal, onProgress }: BatchOptions,
  logger: Logger,
): Promise<BatchResult<T>[]> {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new LLMInvalidRequestError('concurrency must be a whole number from 1', { path: 'concurrency' });
  }
  if (!isList(requests)) throw new LLMInvalidRequestError('a batch is a list of requests', { path: 'requests' });
  const results: BatchResult<T>[] = [];
  let done = 0;
  const run = async (index: number, request: LLMRequest): Promise<void> => {
    results[index] = await settle(withSignal(request, signal));
    done += 1;
    try {
      onProgress?.(done, requests.length);
    } catch (error) {
      logger.error("a batch's onProgress failed", error);
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
  const hits = results.filter((result) => result instanceof LLMRateLimitError).length;
  if (hits > 0) logger.warn(`rate limits: ${hits} of the ${requests.length} requests of a batch met one`);
  return results;
}

/**
 * A lane holds one place from its first request to its last, so that waiting requests of one entity take none from
 * the others.
 */
function lanesOf(requests: readonly LLMRequest[]): readonly (readonly (readonly [number, LLMRequest])[])[] {
  const lanes: [number, LLMRequest][][] = [];
  const byKey = new Map<string, [number, LLMRequest][]>();
  for (const [index, request] of requests.entries()) {
    const { entityKey } = fieldsOf(request) as Partial<LLMRequest>;
    const known = entityKey === undefined ? undefined : byKey.get(entityKey);
    if (known !== undefined) {
      known.push([index, request]);
      continue;
    }
    const lane: [number, LLMRequest][] = [[index, request]];
    lanes.push(lane);
    if (entityKey !== undefined) byKey.set(entityKey, lane);
  }
  return lanes;
}

function withSignal(request: LLMRequest, signal: AbortSignal | undefined): LLMRequest {
  if (signal === undefined || !isObject(request)) return request;
  return { ...request, signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]) };
}
