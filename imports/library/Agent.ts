/** A model with instructions and tools. */
import { randomUUID } from 'node:crypto';
import { invalid, readObject } from '../business/ai/domain/util/arguments';
import { programLogger } from '../log/programLogger';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../business/ai/domain/util/json';
import type { BuiltInTool } from '../business/ai/domain/entities/Tool';
import type { LLMInput, ToolChoice } from '../business/ai/domain/types/LLMTypes';
import type { SchemaInput, ValueOf } from '../business/ai/domain/types/Schemas';
import { normalizeInput } from '../business/ai/application/services/ContentNormalizer';
import type { BatchOptions } from '../business/ai/application/services/batches/runBatch';
import { titleOf } from '../business/ai/application/services/runs/titleOf';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { RegisteredTool } from '../business/ai/infrastructure/tools/ToolRegistry';
import { checkEngineOptions, createAgentEngine } from './AgentEngine';
import type { AgentEngine, EngineOptions } from './AgentEngine';
import { toAgentResult } from './AgentResult';
import type { AgentResult } from './AgentResult';
import { AgentRun } from './AgentRun';
import type { AgentRunInit } from './AgentRun';
import { checkCallOptions, checkSettings, SETTING_NAMES, settingsOf, toExecuteOptions } from './AgentSettings';
import type { AgentSettings, CallOptions } from './AgentSettings';
import { allowedTools } from '../business/ai/application/services/runs/handOver';
import type { AgentHandoff } from '../business/ai/domain/types/Handoff';
import { generateBatch } from './batch';
import type { BatchEntry } from './batch';
import { Conversation } from './Conversation';
import { generateObject } from './generateObject';
import type { ObjectResult } from './generateObject';
import { ObjectRun } from './ObjectRun';
import type { Skills } from './skills/loadSkills';
import { checkSchema, checkTool } from './tool';

export interface AgentOptions extends AgentSettings, EngineOptions {
  /** Tools of `tool`, tools that run at the vendor, and names of the host's tools. */
  readonly tools?: readonly (RegisteredTool | BuiltInTool | string)[];
  /** Skills of `loadSkills`, which the model is told of after the instructions. */
  readonly skills?: Skills;
}

export interface ObjectOptions<Schema> extends CallOptions {
  /** JSON Schema, SimpleSchema or any Standard Schema of the value. */
  readonly schema: Schema;
}

/** `onProgress` is called after each input; at most `concurrency` (default 8) are answered at once. */
export interface AgentBatchOptions<Schema = undefined>
  extends Omit<CallOptions, 'executionId'>, Pick<BatchOptions, 'concurrency' | 'onProgress'> {
  /** The schema of each value. Default: the values are texts. */
  readonly schema?: Schema;
}

/** What the runs of other agents need of one that they can hand over to. */
export interface HandoffAgent {
  readonly handoff: AgentHandoff;
  /** The functions, and those of whoever it can hand over to. */
  readonly tools: readonly RegisteredTool[];
  readonly names: readonly (string | BuiltInTool)[];
}

/** By the tool that hands over to it. */
export const HANDOFFS = new WeakMap<object, HandoffAgent>();

interface ResolvedCall {
  readonly settings: AgentSettings;
  readonly engine: AgentEngine;
  /** The model as the engine's provider routes it. */
  readonly model: string;
  readonly userId: string;
}

const ENGINE_NAMES = [
  'provider',
  'providers',
  'host',
  'memory',
  'logger',
] as const satisfies readonly (keyof EngineOptions)[];

/**
 * @throws LLMInvalidRequestError for an option that is unknown or invalid, and for tools with the same name; `path`
 *   names the place
 */
export function agent(options: AgentOptions): Agent {
  return new Agent(options);
}

/**
 * A call takes a string, items of the Responses format, or messages with a role and content. Calls throw
 * `LLMInvalidRequestError` for wrong options and input and `LLMModelNotFoundError` for an unknown provider, before
 * anything is sent; `path` names the place.
 */
export class Agent {
  private readonly settings: AgentSettings;
  private readonly engineOptions: EngineOptions;
  private readonly tools: readonly RegisteredTool[];
  /** The tools as the loop takes them: functions by name. */
  private readonly offered: readonly (string | BuiltInTool)[];
  private readonly skills: Skills | undefined;
  /** The agents that it can hand over to. */
  private readonly others: readonly HandoffAgent[];
  private engine: AgentEngine | undefined;

  constructor(options: AgentOptions) {
    const fields = readObject(options, [...SETTING_NAMES, ...ENGINE_NAMES, 'tools', 'skills']);
    checkSettings(fields);
    const { tools: given = [], skills } = options;
    if (skills !== undefined && !(isObject(skills) && isObject(skills.tool)))
      throw invalid('skills', 'must be skills, as "loadSkills" resolves with them');
    checkEngineOptions(options);
    checkTools(given);
    const tools = skills === undefined ? given : [...given, skills.tool];
    this.settings = settingsOf(options);
    this.skills = skills;
    this.engineOptions = options;
    this.tools = tools.filter((tool): tool is RegisteredTool => typeof tool === 'object' && !isBuiltIn(tool));
    this.offered = tools.map((tool) => (typeof tool === 'string' || isBuiltIn(tool) ? tool : tool.name));
    // At once, because a host may recover runs that call the tools.
    this.others = tools.flatMap((tool) => (typeof tool === 'object' ? (HANDOFFS.get(tool) ?? []) : []));
    if (options.host !== undefined) this.engine = createAgentEngine(options, this.allTools, options.model);
  }

  /** Starts a run whose text and events arrive as the model writes. Later errors reach the run's readers. */
  stream(input: LLMInput, options: CallOptions = {}): AgentRun {
    checkCallOptions(options);
    return new AgentRun(this.prepare(input, options, true));
  }

  /**
   * Runs until the model has answered and no call is pending or, with `onPending: 'return'`, until its first answer.
   * @throws LLMError that ended the run; `runOf` returns what the run had done
   */
  async generate(input: LLMInput, options: CallOptions = {}): Promise<AgentResult> {
    checkCallOptions(options);
    const { loop, userId, options: execute, metadata } = this.prepare(input, options, false);
    const { done } = await loop.start(userId, execute, metadata);
    return toAgentResult(await done);
  }

  /**
   * Generates a value that is valid against the schema, after running any tools that the model calls. An answer that
   * violates the schema is sent back for correction once, in a second run.
   * @throws StructuredOutputError, with `violations` and `text`, if the corrected answer is invalid too; whatever
   *   `generate` throws
   */
  async generateObject<const Schema extends SchemaInput>(
    input: LLMInput,
    options: ObjectOptions<Schema>,
  ): Promise<ObjectResult<ValueOf<Schema>>> {
    checkCallOptions(options, ['schema']);
    const { schema, ...call } = options;
    checkSchema(schema, 'schema');
    const { engine } = this.resolve(call);
    return generateObject(this.prepare(input, call, false), schema, engine.provider);
  }

  /**
   * `generateObject` with the value while the model writes it. Later errors reach the run's readers.
   * @throws LLMInvalidRequestError, LLMModelNotFoundError
   */
  streamObject<const Schema extends SchemaInput>(input: LLMInput, options: ObjectOptions<Schema>): ObjectRun<Schema> {
    checkCallOptions(options, ['schema']);
    const { schema, ...call } = options;
    checkSchema(schema, 'schema');
    const { engine } = this.resolve(call);
    return new ObjectRun(this.prepare(input, call, true), schema, engine.provider);
  }

  /**
   * Answers each input: with text or, with a schema, a value.
   * @returns one entry per input, at its index. An input that fails neither rejects the batch nor stops the others
   * @throws LLMInvalidRequestError for invalid options, LLMModelNotFoundError for an unknown provider
   */
  async batch<const Schema extends SchemaInput | undefined = undefined>(
    inputs: readonly LLMInput[],
    options: AgentBatchOptions<Schema> = {},
  ): Promise<BatchEntry<Schema extends undefined ? string : ValueOf<Schema>>[]> {
    const { schema, concurrency: _, onProgress: __, ...call } = options;
    checkCallOptions(options, ['schema', 'concurrency', 'onProgress']);
    if (!isList(inputs)) throw invalid('inputs', 'must be a list');
    if (schema !== undefined) checkSchema(schema, 'schema');
    // What would fail every input fails the batch.
    this.resolve(call);
    const entries = await generateBatch<unknown>(
      inputs,
      async (input, signal) => {
        const each = { ...call, ...omitUndefined({ signal }) };
        if (schema !== undefined) return this.generateObject(input, { ...each, schema });
        const result = await this.generate(input, each);
        return { ...result, value: result.text };
      },
      options,
      programLogger(this.engineOptions.logger),
    );
    // The type of the values follows from the schema, which validated them.
    return entries as BatchEntry<Schema extends undefined ? string : ValueOf<Schema>>[];
  }

  /** The agent as another one hands over to it. */
  asHandoff(): HandoffAgent {
    const { settings, tools, others } = this;
    return {
      handoff: omitUndefined({
        model: settings.model,
        instructions: this.instructions(settings),
        tools: this.allowed,
      }),
      tools: [...tools, ...others.flatMap((other) => other.tools)],
      names: [...this.offered, ...others.flatMap((other) => other.names)],
    };
  }

  private get allowed(): AgentHandoff['tools'] {
    return this.offered.map((tool) =>
      typeof tool === 'string' ? { type: 'function', name: tool } : { type: tool.type },
    );
  }

  /** Runs offer the tools of all agents, of which each may call its own. */
  private ownChoice(choice: ToolChoice = 'auto'): { readonly tool_choice?: ToolChoice } {
    if (this.others.length === 0 || (choice !== 'auto' && choice !== 'required')) return {};
    return { tool_choice: allowedTools(this.allowed, choice) };
  }

  private get allTools(): readonly RegisteredTool[] {
    return [...new Set([...this.tools, ...this.others.flatMap(({ tools }) => tools)])];
  }

  private instructions({ instructions }: AgentSettings): string | undefined {
    // The same in every turn, so that what vendors cache of it stays.
    const texts = [instructions, this.skills?.instructions].filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.join('\n\n');
  }

  /** @param messages the conversation so far, such as the `transcript` of an earlier one */
  conversation(messages: LLMInput = []): Conversation {
    return new Conversation(this, messages, this.settings);
  }

  /** @throws LLMInvalidRequestError, LLMModelNotFoundError */
  private resolve(options: CallOptions): ResolvedCall {
    const settings = { ...this.settings, ...settingsOf(options) };
    this.engine ??= createAgentEngine(this.engineOptions, this.allTools, settings.model);
    return {
      settings,
      engine: this.engine,
      model: this.engine.resolveModel(settings.model),
      userId: this.engine.resolveUser(settings.userId),
    };
  }

  private prepare(input: LLMInput, options: CallOptions, stream: boolean): AgentRunInit {
    const { settings, engine, model, userId } = this.resolve(options);
    const { signal } = options;
    const items = normalizeInput(input);
    const [providerId = model, ...rest] = model.split('/');
    const { executionId = randomUUID() } = options;
    const { recall = this.engineOptions.memory !== undefined, ...execute } = toExecuteOptions(settings);
    const instructions = this.instructions(settings);
    return {
      loop: engine.loop,
      userId,
      options: {
        ...execute,
        ...omitUndefined({ instructions }),
        ...this.ownChoice(execute.tool_choice),
        ...(recall === false ? {} : { recall }),
        model,
        input: items,
        tools: [...new Set([...this.offered, ...this.others.flatMap(({ names }) => names)])],
        stream,
        executionId,
        ...omitUndefined({ signal }),
      },
      metadata: {
        title: titleOf(items),
        providerId,
        ...(rest.length === 0 ? {} : { model: rest.join('/') }),
      },
    };
  }
}

/** @throws LLMInvalidRequestError */
function checkTools(tools: unknown): void {
  if (!isList(tools)) throw invalid('tools', 'must be a list');
  const names = new Set<string>();
  for (const [index, given] of tools.entries()) {
    const path = `tools[${index}]`;
    if (isObject(given) && isBuiltIn(given)) continue;
    if (typeof given !== 'string') checkTool(given, path);
    const name = typeof given === 'string' ? given : given.name;
    if (names.has(name))
      throw new LLMInvalidRequestError(`Two tools are named "${name}".`, {
        path: typeof given === 'string' ? path : `${path}.name`,
      });
    names.add(name);
  }
}

/** Tools of the vendors have a type and no function. */
function isBuiltIn(tool: object): tool is BuiltInTool {
  return 'type' in tool && tool.type !== 'function';
}
