/** A model with instructions and tools. */
import { randomUUID } from 'node:crypto';
import { invalid, readObject } from '../business/ai/domain/arguments';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../business/ai/domain/json';
import type { BuiltInTool } from '../business/ai/domain/entities/Tool';
import type { LLMInput } from '../business/ai/domain/types/LLMTypes';
import { normalizeInput } from '../business/ai/application/services/ContentNormalizer';
import { titleOf } from '../business/ai/application/usecases/RunLauncher';
import type { RegisteredTool } from '../business/ai/infrastructure/tools/ToolRegistry';
import { createAgentEngine } from './AgentEngine';
import type { AgentEngine, EngineOptions } from './AgentEngine';
import { toAgentResult } from './AgentResult';
import type { AgentResult } from './AgentResult';
import { AgentRun } from './AgentRun';
import type { AgentRunInit } from './AgentRun';
import { checkCallOptions, checkSettings, SETTING_NAMES, settingsOf, toExecuteOptions } from './AgentSettings';
import type { AgentSettings, CallOptions } from './AgentSettings';
import { checkTool } from './tool';

export interface AgentOptions extends AgentSettings, EngineOptions {
  /** Tools of `tool`, tools that run at the vendor, and names of the host's tools. */
  readonly tools?: readonly (RegisteredTool | BuiltInTool | string)[];
}

const ENGINE_NAMES = ['provider', 'providers', 'host', 'logger'] as const satisfies readonly (keyof EngineOptions)[];

/**
 * @throws LLMInvalidRequestError for an option that is unknown or invalid, and for tools with the same name; `path`
 *   names the place
 */
export function agent(options: AgentOptions): Agent {
  return new Agent(options);
}

/**
 * Its calls take a string, items of the Responses format, or messages with a role and content. They throw
 * `LLMInvalidRequestError` for wrong options and input and `LLMModelNotFoundError` for an unknown provider, before
 * anything is sent; `path` names the place.
 */
export class Agent {
  private readonly settings: AgentSettings;
  private readonly engineOptions: EngineOptions;
  private readonly tools: readonly RegisteredTool[];
  /** As the loop takes them: the functions by name. */
  private readonly offered: readonly (string | BuiltInTool)[];
  private engine: AgentEngine | undefined;

  constructor(options: AgentOptions) {
    const fields = readObject(options, [...SETTING_NAMES, ...ENGINE_NAMES, 'tools']);
    checkSettings(fields);
    const { tools = [] } = options;
    const [first, second] = (['provider', 'providers', 'host'] as const).filter((name) => options[name] !== undefined);
    if (first !== undefined && second !== undefined) throw invalid(second, `cannot be combined with "${first}"`);
    checkTools(tools);
    this.settings = settingsOf(options);
    this.engineOptions = options;
    this.tools = tools.filter((tool): tool is RegisteredTool => typeof tool === 'object' && !isBuiltIn(tool));
    this.offered = tools.map((tool) => (typeof tool === 'string' || isBuiltIn(tool) ? tool : tool.name));
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

  private prepare(input: LLMInput, options: CallOptions, stream: boolean): AgentRunInit {
    const { signal } = options;
    const settings = { ...this.settings, ...settingsOf(options) };
    this.engine ??= createAgentEngine(this.engineOptions, this.tools, settings.model);
    const model = this.engine.resolveModel(settings.model);
    const userId = this.engine.resolveUser(settings.userId);
    const items = normalizeInput(input);
    const [providerId = model, ...rest] = model.split('/');
    const { executionId = randomUUID() } = options;
    const execute = toExecuteOptions(settings);
    return {
      loop: this.engine.loop,
      userId,
      options: {
        ...execute,
        model,
        input: items,
        tools: this.offered,
        stream,
        executionId,
        ...(signal === undefined ? {} : { signal }),
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
