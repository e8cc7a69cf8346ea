/** What an application asks: text, typed values, answers with tools, from any provider that it was given. */
import { toolCalls } from '../../domain/entities/Response';
import { LLMIncompleteError, LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { GenerateOptions, LLMInput, LooseTool } from '../../domain/types/LLMTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import { AgenticLoop } from './AgenticLoop';
import type { ExecuteOptions } from './AgenticLoop';
import type { AnySchema } from './schema/AnySchema';
import { normalizeInput } from './ContentNormalizer';
import { DEFAULT_JSON_LIMITS } from './structured/parseJsonAnswer';
import type { JsonLimits } from './structured/parseJsonAnswer';
import type { InferSchema, LiteralJsonSchema } from './structured/InferSchema';
import { ResilientProvider } from './routing/ResilientProvider';
import type { ResilientLimits, ResilientProviderOptions } from './routing/ResilientProvider';
import { generateStructured } from './structured/StructuredOutput';
import type { ModelAnswer } from './structured/StructuredOutput';
import { completeTurn } from './routing/completeTurn';

export interface LLMManagerOptions extends Omit<ResilientProviderOptions, 'limits'> {
  /** Where the tools of `generateWithTools` live. */
  readonly toolExecutor?: IToolExecutor;
  readonly limits?: Partial<ResilientLimits> & { /** Of an answer that is parsed. */ readonly json?: JsonLimits };
}

export type TextOptions = Omit<GenerateOptions, 'input'>;
export type ToolOptions = Omit<ExecuteOptions, 'input' | 'tools'>;

export class LLMManager extends ResilientProvider {
  private readonly toolExecutor: IToolExecutor | undefined;
  private readonly jsonLimits: JsonLimits;
  private loop: AgenticLoop | undefined;

  /** @throws LLMInvalidRequestError for a set of providers that can't be routed to */
  constructor(options: LLMManagerOptions) {
    super(options);
    this.toolExecutor = options.toolExecutor;
    this.jsonLimits = options.limits?.json ?? DEFAULT_JSON_LIMITS;
  }

  /**
   * The text of a whole answer.
   * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError (also for an answer that only asks for
   *   tools), each with
   * `.response`; whatever `generate` throws
   */
  async generateText(userId: string, input: LLMInput, options: TextOptions = {}): Promise<string> {
    const { text, response } = await this.wholeTurn(userId, { ...options, input: normalizeInput(input) });
    if (text === '' && toolCalls(response).length > 0) {
      throw new LLMIncompleteError('The model asked for tools and gave no text: ask by generateWithTools.', {
        reason: 'tool_calls',
        response,
      });
    }
    return text;
  }

  /**
   * A value that fits the schema, after all the tools in `options.tools` that the model called, and of its type
   * where the schema's own type tells.
   * @param schema a JSON Schema, a SimpleSchema, or any Standard Schema that can describe itself as JSON Schema
   * @throws StructuredOutputError when the answer breaks the schema, and the repaired one too; whatever
   *   `generateText` throws
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
      ask: (request) => this.ask(userId, request),
      options: { ...options, input: normalizeInput(input) },
      schema,
      capabilities: this.getCapabilities(options.model ?? this.defaultModel),
      limits: this.jsonLimits,
    });
    return value;
  }

  /**
   * The model's answer after all the tools that it called.
   * @param tools names of the executor's tools, or definitions
   * @returns the last answer, with the usage of the whole run
   * @throws what AgenticLoop's `execute` throws
   */
  async generateWithTools(
    userId: string,
    input: LLMInput,
    tools: readonly (string | LooseTool)[],
    options: ToolOptions = {},
  ): Promise<LLMResponse> {
    const { response, usage } = await this.loopFor(tools).execute(userId, {
      ...options,
      model: options.model ?? this.defaultModel,
      input,
      tools,
    });
    return { ...response, usage };
  }

  /** Tools that a vendor's server runs need nobody here. */
  private loopFor(tools: readonly (string | LooseTool)[]): AgenticLoop {
    if (this.toolExecutor === undefined && tools.some((tool) => typeof tool === 'string' || tool.type === 'function')) {
      throw new LLMInvalidRequestError('tools need a toolExecutor: give the manager one', { path: 'toolExecutor' });
    }
    this.loop ??= new AgenticLoop({ provider: this, toolExecutor: this.toolExecutor ?? NO_TOOLS });
    return this.loop;
  }

  private async ask(userId: string, options: GenerateOptions): Promise<ModelAnswer> {
    // The vendor runs its own tools; only ours need the loop.
    const { tools = [] } = options;
    if (!tools.some((tool) => tool.type === 'function')) return this.wholeTurn(userId, options);
    const { response, usage, transcript } = await this.loopFor(tools).execute(userId, {
      ...options,
      model: options.model ?? this.defaultModel,
    });
    return { response, usage, conversation: transcript };
  }

  private wholeTurn(userId: string, options: GenerateOptions): Promise<ModelAnswer & { readonly text: string }> {
    return completeTurn((request) => this.generate(userId, request), options);
  }
}

const NO_TOOLS: IToolExecutor = {
  execute: (toolName) => Promise.reject(new ToolError('unknown-tool', `There is no tool '${toolName}'.`)),
  hasToolFunction: () => false,
  getToolDefinition: () => undefined,
};
