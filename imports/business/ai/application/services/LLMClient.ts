/**
 * Structured requests in sequence or in bulk (the phases of a simulation, an import, a nightly job), on any provider,
 * with a chain of previous responses for each entity.
 */
import { programLogger } from '../../../../log/programLogger';
import {
  LLMAbortedError,
  LLMInvalidRequestError,
  LLMServerError,
  UnsupportedFeatureError,
  isLLMError,
} from '../../domain/errors/LLMErrors';
import type { LLMError, ErrorCode } from '../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { BatchStore } from '../../domain/interfaces/BatchStore';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import { isObject } from '../../domain/util/json';
import type { GenerateOptions, LLMInput } from '../../domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../../domain/types/ResponsesAPITypes';
import { requestCancellation } from './batches/BatchJournal';
import { MemoryBatchStore } from './batches/MemoryBatchStore';
import type { BatchPlace } from './batches/vendorBatch';
import { runBatch, runInVendorBatch } from './batches/runBatch';
import type { BatchOptions, BatchResult, BatchSuccess, LLMRequest } from './batches/runBatch';
import { explainUnknownResponse } from './chains/explainUnknownResponse';
import type { ResponseStorage } from './chains/explainUnknownResponse';
import { MemoryResponseStore } from './chains/MemoryResponseStore';
import { normalizeInput } from './ContentNormalizer';
import { ResponseChainManager } from './ResponseChainManager';
import { completeTurn } from './routing/completeTurn';
import { NormalizedProvider } from './routing/NormalizedProvider';
import { StatefulProvider } from './routing/StatefulProvider';
import type { AnySchema } from '../../domain/types/Schemas';
import { KeyedQueue } from './shared/KeyedQueue';
import type { InferSchema, LiteralJsonSchema } from '../../domain/types/InferSchema';
import { generateStructured } from './structured/StructuredOutput';
import { requireOptions } from './shared/requireOptions';

export type { BatchResult };

/** A provider, or an object with the same `generate`. */
export type ResponseSource = Pick<ILLMProvider, 'generate'> &
  Partial<Pick<ILLMProvider, 'deleteResponse' | 'getCapabilities' | 'responseStore' | 'batchStore'>>;

export interface LLMClientOptions {
  readonly provider: ILLMProvider | ResponseSource;
  readonly userId: string;
  /** The objects that own the chains, each with an `identity.id`. Chains and usage are written onto them. */
  readonly entities?: readonly unknown[];
  /** How many responses a chain holds. Default 0: no chain. */
  readonly defaultDepth?: number;
  readonly model: string;
  /**
   * Stores the responses of vendors that store none. Default: the store of the module whose manager is `provider`;
   * without one, in memory, at most 10,000 for 24 hours.
   */
  readonly responseStore?: ResponseStore;
  /**
   * Records batches at vendors. Default: the store of the module whose manager is `provider`; without one, in memory,
   * so that a batch is lost with its process.
   */
  readonly batchStore?: BatchStore;
  /** The field of an entity that holds its chains and usage. Default `_openai`. */
  readonly namespace?: string;
  /** Default: the console. */
  readonly logger?: Logger;
}

type TypedRequest<S> = LLMRequest<S> & { readonly schema: S };

/**
 * Answers structured requests, each optionally continuing the chain of an entity. A request is
 * `{ input, schema?, entityKey?, depthOverride?, … }` with the other fields of `GenerateOptions`; see `LLMRequest`.
 *
 * After each successful request with an `entityKey`, the client appends the response's id to the entity's chain, adds
 * its token usage to the entity, and deletes the responses that fell out of the chain at the provider. Requests
 * with the same `entityKey` run one after another.
 */
export class LLMClient {
  private readonly provider: ILLMProvider;
  private readonly userId: string;
  private readonly model: string;
  private readonly defaultDepth: number;
  private readonly chains: ResponseChainManager;
  private readonly storage: ResponseStorage;
  private readonly batchStore: BatchStore;
  private readonly logger: Logger;
  private readonly turns = new KeyedQueue();

  /**
   * @throws LLMInvalidRequestError if `provider` has no `generate`, `entities` is no list, or `defaultDepth` is not an
   *   integer from 0
   */
  constructor(options: LLMClientOptions) {
    requireOptions(options, ['provider'], 'new LLMClient({ provider, userId, model })');
    const store = storeOf(options);
    this.provider = providerOf(options.provider, store);
    this.storage = storageOf(options, store);
    this.batchStore = options.batchStore ?? options.provider.batchStore ?? new MemoryBatchStore();
    this.userId = options.userId;
    this.model = options.model;
    this.defaultDepth = depthOf(options.defaultDepth ?? 0, 'defaultDepth');
    this.chains = new ResponseChainManager({ entities: options.entities ?? [], namespace: options.namespace });
    this.logger = programLogger(options.logger);
  }

  /**
   * @returns the model's value, typed by the schema; without a schema, its text
   * @throws LLMError, such as LLMRefusalError, LLMIncompleteError, StructuredOutputError, LLMRateLimitError or
   *   LLMTimeoutError; the entity's chain and usage are then unchanged
   */
  async createResponse<const S extends LiteralJsonSchema>(request: TypedRequest<S>): Promise<InferSchema<S>>;
  async createResponse<Output>(request: TypedRequest<AnySchema<Output>>): Promise<Output>;
  async createResponse(request: LLMRequest<undefined>): Promise<string>;
  async createResponse(request: LLMRequest): Promise<unknown> {
    const result = await this.settle(request);
    if (!isLLMError(result)) return result.value;
    this.logger.error(`A request failed: ${result.message}`, { code: result.code });
    throw result;
  }

  /**
   * Answers many requests. Requests with the same `entityKey` run one after another in the given order, all others
   * concurrently. With the mode `vendor` they are answered in batches of the vendor, at half the price: within a day,
   * and although this process may end. A later call with the same `batchId` and requests then continues.
   * @returns one result per request, at its index: `{ ok: true, value, response }` or the `LLMError`
   * @throws LLMInvalidRequestError if `requests` is no list or `concurrency` is not a positive integer
   * @throws ConflictError if a vendor's batch of that id has another number of requests
   */
  async createBatch<const S extends LiteralJsonSchema>(
    requests: readonly TypedRequest<S>[],
    options?: BatchOptions,
  ): Promise<BatchResult<InferSchema<S>>[]>;
  async createBatch<Output>(
    requests: readonly TypedRequest<AnySchema<Output>>[],
    options?: BatchOptions,
  ): Promise<BatchResult<Output>[]>;
  async createBatch(requests: readonly LLMRequest<undefined>[], options?: BatchOptions): Promise<BatchResult<string>[]>;
  async createBatch(requests: readonly LLMRequest[], options: BatchOptions = {}): Promise<BatchResult<unknown>[]> {
    const { userId, logger, batchStore: store } = this;
    if (options.mode === 'vendor')
      return runInVendorBatch(requests, (request, place) => this.settle(request, place), options, {
        userId,
        store,
        logger,
      });
    return runBatch(requests, (request) => this.settle(request), options, logger);
  }

  /**
   * Cancels a vendor's batch: requests that are answered keep their results, the others fail with an
   * `LLMAbortedError`. The process that waits for it cancels it at the vendor; if none does, the next call of
   * `createBatch` with its id.
   * @returns false if there is no such batch
   */
  cancelBatch(batchId: string): Promise<boolean> {
    return requestCancellation(this.batchStore, { userId: this.userId, batchId });
  }

  /** Never rejects. Requests on the same chain run one after another, since each continues the one before. */
  private async settle(request: LLMRequest, place?: BatchPlace): Promise<BatchResult<unknown>> {
    // Boundary: callers without types pass anything.
    const given: unknown = request;
    if (!isObject(given)) return new LLMInvalidRequestError('A request must be an object with "input".', { path: '' });
    const { entityKey, signal } = request;
    try {
      return await (entityKey === undefined
        ? this.answer(request, place)
        : this.turns.run(entityKey, () => this.answer(request, place), signal));
    } catch (thrown) {
      return explainUnknownResponse(asLLMError(thrown, signal), this.storage);
    }
  }

  private async answer(request: LLMRequest, place: BatchPlace | undefined): Promise<BatchSuccess<unknown>> {
    const { schema, entityKey, depthOverride, input, inputData, ...rest } = request;
    const options = { ...rest, input: inputOf(input, inputData) };
    options.signal?.throwIfAborted();
    const depth = depthOf(depthOverride ?? this.defaultDepth, 'depthOverride');
    const previous = entityKey === undefined ? null : this.chains.getPrevious(entityKey);
    // Fails before the call if its outcome could not be recorded.
    if (entityKey !== undefined) this.chains.assertWritable(entityKey);
    const isChained = depth > 0 && entityKey !== undefined && this.chains.has(entityKey);
    const created: string[] = [];
    try {
      const chained = { ...options, model: options.model ?? this.model, ...chainOptions(previous, isChained) };
      const { value, response, usage } = await this.generate(chained, schema, created, place);
      const evicted = entityKey === undefined ? [] : this.chains.confirm(entityKey, response.id, depth);
      if (entityKey !== undefined) {
        this.chains.addUsage(entityKey, usage);
        this.logger.debug(`The chain of "${entityKey}" continues.`, {
          previous,
          response: response.id,
          depth,
          evicted,
        });
      }
      await this.deleteResponses([...evicted, ...(isChained ? created.filter((id) => id !== response.id) : [])]);
      return { ok: true, value, response };
    } catch (error) {
      // A stored response that joins no chain would otherwise stay at the vendor forever.
      if (isChained) await this.deleteResponses(created);
      throw error;
    }
  }

  /** @param created receives the id of every response that the provider creates */
  private async generate(
    given: GenerateOptions,
    schema: AnySchema | undefined,
    created: string[],
    place: BatchPlace | undefined,
  ): Promise<{ value: unknown; response: LLMResponse; usage: Usage }> {
    let isPlaced = place !== undefined;
    const generate = async (request: GenerateOptions): Promise<LLMResponse> => {
      // What follows an answer, such as the correction of invalid JSON, is no part of the batch.
      const sent = isPlaced ? { ...request, ...place } : request;
      isPlaced = false;
      this.logger.debug('A request is sent.', { model: sent.model, previous: sent.previous_response_id });
      const response = await this.provider.generate(this.userId, sent);
      const { id, model, usage } = response;
      this.logger.debug('A response was received.', { response: id, model, usage });
      created.push(id);
      return response;
    };
    const options = { ...given, input: normalizeInput(given.input), onRetry: this.retryListener(given) };
    if (schema === undefined) {
      const { text, response, usage } = await completeTurn(generate, options);
      return { value: text, response, usage };
    }
    return generateStructured({
      generate: (request) => completeTurn(generate, request),
      options,
      schema,
      capabilities: this.provider.getCapabilities(options.model ?? this.model, options.wire),
    });
  }

  private retryListener({ onRetry }: GenerateOptions): NonNullable<GenerateOptions['onRetry']> {
    return (failed) => {
      if (failed.reason === RATE_LIMITED)
        this.logger.warn(`The provider "${failed.providerId}" limits the rate of requests.`, { delay: failed.delay });
      onRetry?.(failed);
    };
  }

  /** A response that cannot be deleted costs storage, but must not fail the request. */
  private async deleteResponses(responseIds: readonly string[]): Promise<void> {
    const deletions = responseIds.map(async (id) => {
      try {
        await this.provider.deleteResponse?.(this.userId, id);
      } catch (error) {
        this.logger.warn(`Could not delete the response "${id}" at the provider.`, error);
      }
    });
    await Promise.all(deletions);
  }
}

/** @throws LLMInvalidRequestError if both are given */
function inputOf(input: LLMRequest['input'], data: LLMRequest['inputData']): LLMInput {
  if (data === undefined) {
    // Boundary: a request without any input is refused by the normalizer.
    return input as LLMInput;
  }
  if (input !== undefined)
    throw new LLMInvalidRequestError('Pass either "input" or "inputData".', { path: 'inputData' });
  return isObject(data) ? JSON.stringify(data) : data;
}

const RATE_LIMITED: ErrorCode = 'rate-limited';
const DEFAULT_STORE_LIMITS = { maxResponses: 10_000, timeToLive: 24 * 3_600_000 } as const;

function storeOf({ provider, responseStore }: LLMClientOptions): ResponseStore {
  // Boundary: callers without types pass anything as a provider, which is refused later.
  const given = provider as LLMClientOptions['provider'] | null | undefined;
  return responseStore ?? given?.responseStore ?? new MemoryResponseStore(DEFAULT_STORE_LIMITS);
}

function storageOf({ provider, responseStore }: LLMClientOptions, store: ResponseStore): ResponseStorage {
  if (provider instanceof StatefulProvider || !(store instanceof MemoryResponseStore)) return 'store';
  return responseStore === undefined && store === provider.responseStore ? 'module-memory' : 'client-memory';
}

function providerOf(given: LLMClientOptions['provider'], store: ResponseStore): ILLMProvider {
  if (!isObject(given) || typeof given.generate !== 'function') {
    throw new LLMInvalidRequestError('"provider" must be a provider or an object with the same "generate".', {
      path: 'provider',
    });
  }
  if (given instanceof StatefulProvider) return given;
  if (!isProvider(given)) return new NormalizedProvider(toProvider(given));
  // The ids come from the program's own entities, which may be older than this process.
  return new StatefulProvider({ provider: given, store, trustsIds: true });
}

/** Boundary: an object with a name and capabilities is taken for a provider. Only `ResponseSource` is used of it. */
function isProvider(given: LLMClientOptions['provider']): given is ILLMProvider {
  return typeof given.getCapabilities === 'function' && 'getProviderName' in given;
}

function toProvider(source: ResponseSource): ILLMProvider {
  return {
    getProviderName: () => (source as Partial<ILLMProvider>).getProviderName?.() ?? 'unknown',
    generate: (userId, options) => source.generate(userId, options),
    stream: () => {
      throw new UnsupportedFeatureError('This provider cannot stream.');
    },
    validateAccess: () => Promise.resolve({ valid: true }),
    getCapabilities: (model, wire) => source.getCapabilities?.(model, wire) ?? ALL_CAPABILITIES,
    deleteResponse: async (userId, responseId) => source.deleteResponse?.(userId, responseId),
  };
}

/** A source without `getCapabilities` is assumed to support everything. */
const ALL_CAPABILITIES: ModelCapabilities = {
  supportsTools: true,
  supportsParallelTools: true,
  supportsAsyncTools: false,
  supportsVision: true,
  supportsFiles: true,
  supportsJSON: true,
  supportsJSONSchema: true,
  supportsReasoning: true,
  keepsState: true,
  maxTokens: Infinity,
  maxOutputTokens: Infinity,
};

function chainOptions(
  previous: string | null,
  isChained: boolean,
): Pick<GenerateOptions, 'store' | 'previous_response_id'> {
  return {
    ...(previous === null ? {} : { previous_response_id: previous }),
    ...(isChained || previous !== null ? { store: isChained } : {}),
  };
}

function depthOf(depth: number, path: string): number {
  if (Number.isSafeInteger(depth) && depth >= 0) return depth;
  throw new LLMInvalidRequestError(`"${path}" must be an integer from 0.`, { path });
}

function asLLMError(thrown: unknown, signal: AbortSignal | undefined): LLMError {
  if (isLLMError(thrown)) return thrown;
  if (signal?.aborted === true) return new LLMAbortedError('The request was aborted.', { cause: thrown });
  return new LLMServerError('The request failed unexpectedly.', { cause: thrown, retryable: false });
}
