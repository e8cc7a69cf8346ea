/** The entry point for applications: text, typed values and tool use on any provider. */
import { readEmbeddingInputs } from '../../domain/entities/embeddingInput';
import { toolCalls } from '../../domain/entities/Response';
import {
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  ToolError,
} from '../../domain/errors/LLMErrors';
import { noEmbeddings, noRelay } from '../../domain/errors/noEmbeddings';
import { programLogger } from '../../../../log/programLogger';
import type { Logger } from '../../domain/interfaces/Logger';
import type { AccessCheck, ILLMProvider, ModelCapabilities, ModelRoute } from '../../domain/interfaces/ILLMProvider';
import { currentInstrumentation } from '../../domain/interfaces/Instrumentation';
import type { Instrumentation, RunInstrumentation } from '../../domain/interfaces/Instrumentation';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { BatchStore } from '../../domain/interfaces/BatchStore';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import type { EmbeddingBatch, Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../domain/types/RelayTypes';
import type { GenerateOptions, LLMInput, LooseTool } from '../../domain/types/LLMTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { UsageEntry } from '../../domain/types/UsageRecords';
import { AgenticLoop } from './AgenticLoop';
import type { ExecuteOptions } from './AgenticLoop';
import { normalizeInput, withOwnOptions } from './ContentNormalizer';
import { safeCallbacks } from './shared/safeCallbacks';
import { embedInBatches } from './routing/embedInBatches';
import { completeTurn } from './routing/completeTurn';
import type { ModelAnswer } from './routing/completeTurn';
import { ResilientProvider } from './routing/ResilientProvider';
import type { ResilientLimits, ResilientProviderOptions } from './routing/ResilientProvider';
import type { TargetHealth } from './routing/ProviderTarget';
import type { AnySchema } from '../../domain/types/Schemas';
import type { InferSchema, LiteralJsonSchema } from '../../domain/types/InferSchema';
import { DEFAULT_JSON_LIMITS } from './structured/parseJsonAnswer';
import type { JsonLimits } from './structured/parseJsonAnswer';
import { generateStructured } from './structured/StructuredOutput';
import { readObject } from '../../domain/util/arguments';
import { requireOptions } from './shared/requireOptions';

export interface LLMManagerOptions extends Omit<ResilientProviderOptions, 'limits'> {
  /** Where an `LLMClient` with this manager stores responses, so that its chains survive a restart. */
  readonly responseStore?: ResponseStore;
  /** Where an `LLMClient` with this manager records its batches at vendors, so that they survive a restart. */
  readonly batchStore?: BatchStore;
  /** Executes the tools of `generateWithTools`. */
  readonly toolExecutor?: IToolExecutor;
  /**
   * Wraps the router, through which every model call goes: for budgets, tracing and the like. Retries and fallbacks
   * happen inside the router. Default: no decorators.
   */
  readonly decorate?: (router: ResilientProvider) => ILLMProvider;
  /**
   * Observes model calls and runs. One without `traceProvider` leaves the model calls to `decorate`. Default: reports
   * to OpenTelemetry, if the program has an SDK of it.
   */
  readonly instrumentation?: RunInstrumentation & Partial<Instrumentation>;
  readonly limits?: Partial<ResilientLimits> & {
    /** Limits on responses that are parsed as JSON. */ readonly json?: JsonLimits;
  };
}

const OPTIONS = Object.keys({
  provider: 0,
  providers: 0,
  directory: 0,
  fallback: 0,
  clock: 0,
  random: 0,
  sleep: 0,
  retry: 0,
  limits: 0,
  onUsage: 0,
  routeStats: 0,
  logger: 0,
  responseStore: 0,
  batchStore: 0,
  toolExecutor: 0,
  decorate: 0,
  instrumentation: 0,
} satisfies Record<keyof LLMManagerOptions, 0>);

export type TextOptions = Omit<GenerateOptions, 'input'>;
export type ToolOptions = Omit<ExecuteOptions, 'input' | 'tools'>;

/**
 * Sends requests to one or more providers, with retries, circuit breakers and fallbacks.
 *
 * `input` is a string, a message, or a list of messages and items in any vendor's format. `options` are
 * `GenerateOptions` without `input`: `model` (`"providerId/model"`, `"providerId"`, or a model of the only provider),
 * `instructions`, `temperature`, `max_output_tokens`, `timeout` (milliseconds, retries included), `signal` and so on.
 *
 * Errors are `LLMError`s with a `code`; an aborted call throws `signal.reason`. The manager is itself an
 * `ILLMProvider`.
 */
export class LLMManager implements ILLMProvider {
  readonly retriesFailedCalls = true;
  readonly responseStore: ResponseStore | undefined;
  readonly batchStore: BatchStore | undefined;
  private readonly router: ResilientProvider;
  /** The router, behind its decorators if there are any. */
  private readonly provider: ILLMProvider;
  private readonly toolExecutor: IToolExecutor | undefined;
  private readonly jsonLimits: JsonLimits;
  private readonly instrumentation: LLMManagerOptions['instrumentation'];
  private readonly logger: Logger;
  private loop: AgenticLoop | undefined;

  /**
   * @throws LLMInvalidRequestError for a set of providers that cannot be routed to: none, an invalid or duplicate
   *   id, an
   *   unknown fallback, invalid retry settings; for an unknown option
   */
  constructor(settings: LLMManagerOptions) {
    requireOptions(settings, ['provider', 'providers', 'directory'], 'new LLMManager({ provider })');
    // Boundary: guardrails, which are ports of `createAIModule`, would let everything pass.
    readObject(settings, OPTIONS);
    const { toolExecutor, decorate, responseStore, batchStore, instrumentation, ...options } = settings;
    const router = new ResilientProvider(options);
    this.router = router;
    this.logger = programLogger(options.logger);
    this.instrumentation = instrumentation ?? currentInstrumentation();
    const provider = decorate?.(router) ?? router;
    this.provider = this.instrumentation?.traceProvider?.(provider, (model) => router.routeOf(model)) ?? provider;
    this.toolExecutor = toolExecutor;
    this.responseStore = responseStore;
    this.batchStore = batchStore;
    this.jsonLimits = options.limits?.json ?? DEFAULT_JSON_LIMITS;
  }

  /**
   * Generates a complete text. No tools of the application are called.
   * @throws LLMRefusalError, LLMContentFilterError or LLMIncompleteError, each with `.response`; the last one also for
   *   a response that only calls tools
   * @throws whatever `generate` throws
   */
  async generateText(userId: string, input: LLMInput, options: TextOptions = {}): Promise<string> {
    const { text, response } = await this.completeTurn(userId, { ...options, input: normalizeInput(input) });
    if (text === '' && toolCalls(response).length > 0) {
      throw new LLMIncompleteError('The model called tools and returned no text. Use generateWithTools instead.', {
        reason: 'tool_calls',
        response,
      });
    }
    return text;
  }

  /**
   * Generates a value that is valid against the schema, after running any tools in `options.tools` that the model
   * calls. A response that violates the schema is sent back for correction once.
   * @param schema a JSON Schema, a SimpleSchema, or any Standard Schema that can be converted to JSON Schema
   * @returns the value, typed by the schema where its own type permits
   * @throws StructuredOutputError, with `.violations` and `.text`, if the corrected response is invalid too
   * @throws whatever `generateText` throws
   */
  async generateJSON<const S extends LiteralJsonSchema>(
    userId: string,
    input: LLMInput,
    schema: S,
    options?: TextOptions,
  ): Promise<InferSchema<S>>;
  async generateJSON<Output>(
    userId: string,
    input: LLMInput,
    schema: AnySchema<Output>,
    options?: TextOptions,
  ): Promise<Output>;
  async generateJSON<Output>(
    userId: string,
    input: LLMInput,
    schema: AnySchema<Output>,
    options: TextOptions = {},
  ): Promise<Output> {
    const { value } = await generateStructured({
      generate: (request) => this.answer(userId, request),
      options: { ...options, input: normalizeInput(input) },
      schema,
      capabilities: this.getCapabilities(options.model ?? this.router.defaultModel),
      limits: this.jsonLimits,
    });
    return value;
  }

  /**
   * Runs the agentic loop: calls the model, executes the tools that it calls, and repeats until it answers.
   * @param tools names of tools of the `toolExecutor`, or tool definitions
   * @returns the final response, whose `usage` is that of the entire run
   * @throws LLMInvalidRequestError if there are function tools but no `toolExecutor`
   * @throws whatever `AgenticLoop.execute` throws
   */
  async generateWithTools(
    userId: string,
    input: LLMInput,
    tools: readonly (string | LooseTool)[],
    options: ToolOptions = {},
  ): Promise<LLMResponse> {
    const { response, usage } = await this.loopFor(tools).execute(userId, {
      ...options,
      model: options.model ?? this.router.defaultModel,
      input,
      tools,
    });
    return { ...response, usage };
  }

  /**
   * Makes one call, with retries and fallbacks.
   * @returns a completed or incomplete response
   * @throws BudgetError before anything is sent
   * @throws LLMError for failed responses, LLMModelNotFoundError with the candidates, `options.signal.reason` when
   *   aborted
   */
  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return this.provider.generate(userId, this.watched(options));
  }

  /**
   * `generate` as events. Ends with `response.completed` or throws what `generate` throws. After the first substantial
   * event there is no retry.
   */
  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent> {
    return this.provider.stream(userId, this.watched(options));
  }

  /**
   * The vectors of texts, with retries. Never falls back, since another model's vectors cannot be compared with these.
   * What is more than one request may have is sent in several, one after the other, each a call of its own for budgets,
   * rate limits, the request log and traces: if one fails, those before it are not sent, or paid for, again.
   * @throws UnsupportedFeatureError for a vendor without embeddings, and for input that it does not take
   * @throws whatever `generate` throws
   */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    const embed = this.provider.embed.bind(this.provider);
    const inputs = readEmbeddingInputs(options.input);
    const batch = inputs.length === 1 ? undefined : await this.embeddingBatch(options.model);
    const watched = { ...options, ...safeCallbacks(options, this.logger) };
    return embedInBatches(watched, inputs, batch, (request) => embed(userId, request));
  }

  /**
   * Sends a request to a vendor's API as it is, in one attempt, and without a fallback.
   * @throws UnsupportedFeatureError for a vendor whose API is not relayed
   * @throws whatever `generate` throws
   */
  async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    return this.provider.relay(userId, { ...request, ...safeCallbacks(request, this.logger) });
  }

  /** What a program's callbacks throw fails no call. */
  private watched(options: GenerateOptions): GenerateOptions {
    const callbacks = safeCallbacks(options, this.logger);
    return callbacks === undefined ? options : withOwnOptions(options, callbacks);
  }

  /** The default provider's name. */
  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /**
   * Whether the user's credential works, by the vendor's cheapest call.
   * @param providerId default: the default provider
   * @throws LLMInvalidRequestError for an unknown provider
   */
  validateAccess(userId: string, providerId?: string): Promise<AccessCheck> {
    return this.router.validateAccess(userId, providerId);
  }

  /** @throws LLMModelNotFoundError with the candidates */
  routeOf(model: string | undefined): ModelRoute | undefined {
    return this.router.routeOf(model);
  }

  getCapabilities(model: string): ModelCapabilities {
    return this.provider.getCapabilities(model);
  }

  /** Deletes a response at the provider that created it or, if that is no longer tracked, at the default provider. */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }

  /** By provider: the last success and failure of this process's calls, and the state of the circuit. */
  health(): ReadonlyMap<string, TargetHealth> {
    return this.router.health();
  }

  /** Token counts by provider and user since this manager was created. */
  usage(): readonly UsageEntry[] {
    return this.router.usage();
  }

  /** Tools that run on the vendor's server need no executor. */
  private loopFor(tools: readonly (string | LooseTool)[]): AgenticLoop {
    if (this.toolExecutor === undefined && tools.some((tool) => typeof tool === 'string' || tool.type === 'function')) {
      throw new LLMInvalidRequestError('Function tools need a tool executor. Pass "toolExecutor" to the LLMManager.', {
        path: 'toolExecutor',
      });
    }
    const { toolExecutor = NO_TOOLS, instrumentation } = this;
    this.loop ??= new AgenticLoop({ provider: this, toolExecutor, instrumentation });
    return this.loop;
  }

  /** Only function tools need the loop: the vendor runs its own tools. */
  private async answer(userId: string, options: GenerateOptions): Promise<ModelAnswer> {
    const { tools = [] } = options;
    if (!tools.some((tool) => tool.type === 'function')) return this.completeTurn(userId, options);
    const { response, usage, transcript } = await this.loopFor(tools).execute(userId, {
      ...options,
      model: options.model ?? this.router.defaultModel,
    });
    return { response, usage, conversation: transcript };
  }

  /** Undefined, too, for a model that only the call itself can find. */
  private async embeddingBatch(model = this.router.defaultModel): Promise<EmbeddingBatch | undefined> {
    try {
      await this.router.refreshFor(model);
      return this.getCapabilities(model).embeddingBatch;
    } catch (error) {
      if (error instanceof LLMModelNotFoundError) return undefined;
      throw error;
    }
  }

  private completeTurn(userId: string, options: GenerateOptions): Promise<ModelAnswer & { readonly text: string }> {
    return completeTurn((request) => this.generate(userId, request), options);
  }
}

const NO_TOOLS: IToolExecutor = {
  execute: (toolName) => Promise.reject(new ToolError('unknown-tool', `There is no tool "${toolName}".`)),
  hasToolFunction: () => false,
  getToolDefinition: () => undefined,
};
