/**
 * One structured question after another (a simulation's phases, an import, a nightly job), on any provider, each
 * entity with its own memory.
 */
import { LLMAbortedError, LLMInvalidRequestError, LLMServerError, isLLMError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import { isObject } from '../../domain/json';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../../domain/types/ResponsesAPITypes';
import type { AnySchema } from './schema/AnySchema';
import { normalizeInput } from './ContentNormalizer';
import type { InferSchema, LiteralJsonSchema } from './structured/InferSchema';
import { KeyedQueue } from './shared/KeyedQueue';
import type { BatchOptions, BatchResult, BatchSuccess, LLMRequest } from './chains/LLMRequest';
import { RecentResponses } from './RecentResponses';
import { ResponseChainManager } from './ResponseChainManager';
import { runBatch } from './runBatch';
import { normalizeResponse } from './routing/normalizeResponse';
import { StatefulProvider } from './routing/StatefulProvider';
import { generateStructured } from './structured/StructuredOutput';
import { completeTurn } from './routing/completeTurn';

/** A provider, or anything with the same `generate`. */
export type ResponseSource = Pick<ILLMProvider, 'generate'> &
  Partial<Pick<ILLMProvider, 'deleteResponse' | 'getCapabilities'>>;

export interface LLMClientOptions {
  readonly provider: ILLMProvider | ResponseSource;
  readonly userId: string;
  /** The objects that own the chains, each with `identity.id`. */
  readonly entities?: readonly unknown[];
  /** How many responses a chain holds; default 0, which keeps none. */
  readonly defaultDepth?: number;
  readonly model: string;
  /** Where chains are kept whose vendor keeps nothing; default: in this client, bounded. */
  readonly responseStore?: ResponseStore;
  /** Under which chains and usage stand on an entity; default `_openai`. */
  readonly namespace?: string;
  /** Default: the console. */
  readonly logger?: Logger;
}

type TypedRequest<S> = LLMRequest<S> & { readonly schema: S };

export class LLMClient {
  private readonly provider: ResponseSource;
  private readonly userId: string;
  private readonly model: string;
  private readonly defaultDepth: number;
  private readonly chains: ResponseChainManager;
  private readonly logger: Logger;
  private readonly turns = new KeyedQueue();

  /**
   * @throws LLMInvalidRequestError for a depth that is no whole number from 0, and for what is no provider or no
   * list of entities
   */
  constructor(options: LLMClientOptions) {
    this.provider = stateful(options.provider, options.responseStore);
    this.userId = options.userId;
    this.model = options.model;
    this.defaultDepth = depthOf(options.defaultDepth ?? 0, 'defaultDepth');
    this.chains = new ResponseChainManager({ entities: options.entities ?? [], namespace: options.namespace });
    this.logger = options.logger ?? console;
  }

  /**
   * The value that the model answers with, of its schema's type; without a schema, its text.
   * @throws LLMRefusalError, LLMIncompleteError, LLMRateLimitError, LLMTimeoutError, or another LLMError. Chain
   *   and usage are untouched then.
   */
  async createResponse<const S extends LiteralJsonSchema>(request: TypedRequest<S>): Promise<InferSchema<S>>;
  async createResponse<Output>(request: TypedRequest<AnySchema<Output>>): Promise<Output>;
  async createResponse(request: LLMRequest<undefined>): Promise<string>;
  async createResponse(request: LLMRequest): Promise<unknown> {
    const result = await this.settle(request);
    if (isLLMError(result)) throw result;
    return result.value;
  }

  /**
   * The same for many: values and errors in request order, whatever fails. Requests with one `entityKey` run one
   * after another in request order, all others side by side.
   * @throws LLMInvalidRequestError for a concurrency that is no whole number from 1
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
    return runBatch(requests, (request) => this.settle(request), options, this.logger);
  }

  /** Requests on one chain wait for each other, or it would not stay a chain. */
  private async settle(request: LLMRequest): Promise<BatchResult<unknown>> {
    if (!isObject(request)) return new LLMInvalidRequestError('a request must be an object with input', { path: '' });
    const { entityKey, signal } = request;
    try {
      return await (entityKey === undefined
        ? this.answer(request)
        : this.turns.run(entityKey, () => this.answer(request), signal));
    } catch (thrown) {
      return asLLMError(thrown, signal);
    }
  }

  private async answer(request: LLMRequest): Promise<BatchSuccess<unknown>> {
    const { schema, entityKey, depthOverride, ...options } = request;
    options.signal?.throwIfAborted();
    const depth = depthOf(depthOverride ?? this.defaultDepth, 'depthOverride');
    const previous = entityKey === undefined ? null : this.chains.getPrevious(entityKey);
    // What could not be written down afterwards is not asked.
    if (entityKey !== undefined) this.chains.assertWritable(entityKey);
    const isChained = depth > 0 && entityKey !== undefined && this.chains.has(entityKey);
    const made: string[] = [];
    try {
      const asked = { ...options, model: options.model ?? this.model, ...chainOptions(previous, isChained) };
      const { value, response, usage } = await this.ask(asked, schema, made);
      const evicted = entityKey === undefined ? [] : this.chains.confirm(entityKey, response.id, depth);
      if (entityKey !== undefined) this.chains.addUsage(entityKey, usage);
      await this.forget([...evicted, ...(isChained ? made.filter((id) => id !== response.id) : [])]);
      return { ok: true, value, response };
    } catch (error) {
      // What was stored for a chain that it did not become part of would stay at the vendor for ever.
      if (isChained) await this.forget(made);
      throw error;
    }
  }

  private async ask(
    options: GenerateOptions,
    schema: AnySchema | undefined,
    made: string[],
  ): Promise<{ value: unknown; response: LLMResponse; usage: Usage }> {
    const generate = async (request: GenerateOptions): Promise<LLMResponse> => {
      const response = normalizeResponse(await this.provider.generate(this.userId, request), nameOf(this.provider));
      made.push(response.id);
      return response;
    };
    const asked = { ...options, input: normalizeInput(options.input) };
    if (schema === undefined) {
      const { text, response, usage } = await completeTurn(generate, asked);
      return { value: text, response, usage };
    }
    const capabilities =
      this.provider.getCapabilities?.(options.model ?? this.model, options.wire) ?? UNKNOWN_CAPABILITIES;
    return generateStructured({
      ask: (request) => completeTurn(generate, request),
      options: asked,
      schema,
      capabilities,
    });
  }

  /** A response that stays behind costs storage, not an answer. */
  private async forget(responseIds: readonly string[]): Promise<void> {
    const deletions = responseIds.map(async (id) => {
      try {
        await this.provider.deleteResponse?.(this.userId, id);
      } catch (error) {
        this.logger.warn(`the response ${id} could not be deleted at the provider`, error);
      }
    });
    await Promise.all(deletions);
  }
}

/**
 * Sources that say nothing of themselves are taken at their word: they are asked as a vendor with everything would
 * be.
 */
const UNKNOWN_CAPABILITIES: ModelCapabilities = {
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

function stateful(provider: LLMClientOptions['provider'], store: ResponseStore | undefined): ResponseSource {
  if (!isObject(provider) || typeof provider.generate !== 'function') {
    throw new LLMInvalidRequestError('provider must be a provider, or anything with the same generate', {
      path: 'provider',
    });
  }
  if (provider instanceof StatefulProvider || !isProvider(provider)) return provider;
  // The ids come from the program's own entities, which may be older than this process.
  return new StatefulProvider({ provider, store: store ?? new RecentResponses(), trustsIds: true });
}

/**
 * Boundary: what tells its name and its capabilities is taken for a provider; nothing beyond `ResponseSource` is
 * ever asked of it here.
 */
function isProvider(provider: LLMClientOptions['provider']): provider is ILLMProvider {
  return typeof provider.getCapabilities === 'function' && 'getProviderName' in provider;
}

function nameOf(provider: ResponseSource): string {
  return (provider as Partial<ILLMProvider>).getProviderName?.() ?? 'unknown';
}

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
  throw new LLMInvalidRequestError(`${path} must be a whole number from 0`, { path });
}

function asLLMError(thrown: unknown, signal: AbortSignal | undefined): LLMError {
  if (isLLMError(thrown)) return thrown;
  if (signal?.aborted === true) return new LLMAbortedError('The request was aborted.', { cause: thrown });
  return new LLMServerError('The request failed in an unexpected way.', { cause: thrown, retryable: false });
}
