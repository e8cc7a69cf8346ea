/** What runs an agent: its own loop over given or configured providers, or the loop of an application host. */
import { invalid } from '../business/ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';
import { isList, isObject } from '../business/ai/domain/util/json';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { Memory } from '../business/ai/domain/interfaces/Memory';
import { AgenticLoop } from '../business/ai/application/services/AgenticLoop';
import { LLMManager } from '../business/ai/application/services/LLMManager';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, ProviderSettingsInput } from '../business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../business/ai/infrastructure/tools/ToolRegistry';
import type { RegisteredTool } from '../business/ai/infrastructure/tools/ToolRegistry';
import { processEnvironment } from '../host/settings/environment';
import { settingsFromEnvironment } from '../host/settings/vendors';
import { DEFAULT_USER_ID } from './AgentSettings';
import { resolveModelName } from './modelName';

/** An AI module, or anything that has one, such as a host. */
export type AgentHost = HostModule | { readonly module: HostModule };
type HostModule = Pick<AIModule, 'loop' | 'manager' | 'providers' | 'settings' | 'tools'>;

/** Where models come from. Default: the vendors that have a key in `process.env`, shared by all agents. */
export interface EngineOptions {
  /** The only provider, or a manager of several. */
  readonly provider?: ILLMProvider;
  readonly providers?: readonly ProviderSettingsInput[];
  /** The application's own providers and loop: its runs are stored and shown in the dashboard. */
  readonly host?: AgentHost;
  /** What is remembered about users, such as `createMemory` returns. A host has its own. Default: nothing. */
  readonly memory?: Memory;
  readonly logger?: Logger;
}

/** @throws LLMInvalidRequestError */
export function checkEngineOptions(options: EngineOptions): void {
  // Boundary: callers without types pass anything.
  const given: Readonly<Partial<Record<keyof EngineOptions, unknown>>> = options;
  const { provider, providers, host, memory, logger } = given;
  const [first, second] = Object.entries({ provider, providers, host }).filter(([, value]) => value !== undefined);
  if (first !== undefined && second !== undefined) throw invalid(second[0], `cannot be combined with "${first[0]}"`);
  if (provider !== undefined && !hasMethods(provider, ['generate', 'stream', 'getProviderName', 'getCapabilities']))
    throw invalid('provider', 'must be a provider, such as "createProvider" returns');
  if (providers !== undefined && !isList(providers)) throw invalid('providers', 'must be a list of provider settings');
  const module = isObject(host) && isObject(host.module) ? host.module : host;
  if (module !== undefined && !(isObject(module) && hasMethods(module.loop, ['start'])))
    throw invalid('host', 'must be an AI module, or an object with one as its "module"');
  if (memory !== undefined && host !== undefined)
    throw invalid('memory', 'cannot be combined with "host", which has its own: set "recall" instead');
  if (memory !== undefined && !hasMethods(memory, ['save', 'search', 'list', 'forget']))
    throw invalid('memory', 'must be a memory, such as "createMemory" returns');
  if (logger !== undefined && !hasMethods(logger, ['debug', 'info', 'warn', 'error']))
    throw invalid('logger', 'must have the methods debug, info, warn and error');
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === 'function');
}

export interface AgentEngine {
  readonly loop: AgenticLoop;
  readonly provider: ILLMProvider;
  /** Names the model as the loop's provider routes it. @throws LLMModelNotFoundError */
  resolveModel(model: string | undefined): string;
  /** @throws LLMInvalidRequestError if something needs a user and none is given */
  resolveUser(userId: string | undefined): string;
}

/**
 * @param model of the first call, for the message if no provider is configured
 * @throws LLMInvalidRequestError for invalid settings or tools
 */
export function createAgentEngine(
  { host, provider, providers, memory, logger }: EngineOptions,
  tools: readonly RegisteredTool[],
  model: string | undefined,
): AgentEngine {
  if (host !== undefined) return hostEngine('module' in host ? host.module : host, tools);
  const registry = registerTools(tools, new ToolRegistry());
  const log = logger === undefined ? {} : { logger };
  if (provider !== undefined) {
    const manager = provider.retriesFailedCalls === true ? provider : new LLMManager({ provider, ...log });
    return {
      loop: new AgenticLoop({ provider: manager, toolExecutor: registry, memory, ...log }),
      provider: manager,
      // A manager knows its providers itself.
      resolveModel: (name) =>
        name !== undefined && provider === manager ? name : resolveModelName(name, [manager.getProviderName()]),
      resolveUser: (userId) => userId ?? DEFAULT_USER_ID,
    };
  }
  const module = providers === undefined ? environmentModule(model) : createAIModule({ providers }, log);
  return {
    loop: new AgenticLoop({
      provider: module.manager,
      toolExecutor: registry,
      memory,
      instrumentation: module.telemetry.runInstrumentation,
      ...log,
    }),
    provider: module.manager,
    resolveModel: (name) => resolveModelName(name, [...module.providers.keys()]),
    resolveUser: (userId) =>
      requiredUser(userId, module.settings.budgets !== undefined && 'budgets limit what each user may spend'),
  };
}

function hostEngine(module: HostModule, tools: readonly RegisteredTool[]): AgentEngine {
  registerTools(tools, module.tools);
  return {
    loop: module.loop,
    provider: module.manager,
    // Stored providers may have been added by another process, which the manager finds out.
    resolveModel: (name) => name ?? module.manager.getProviderName(),
    resolveUser: (userId) => requiredUser(userId, 'the host stores runs and accounts by user'),
  };
}

/** @param need why there must be a user, or false */
function requiredUser(userId: string | undefined, need: string | false): string {
  if (userId !== undefined || need === false) return userId ?? DEFAULT_USER_ID;
  throw new LLMInvalidRequestError(`"userId" is required, because ${need}. Pass it to the agent or to the call.`, {
    path: 'userId',
  });
}

/** A tool that is registered already may be used by several agents. */
function registerTools(tools: readonly RegisteredTool[], registry: ToolRegistry): ToolRegistry {
  for (const [index, tool] of tools.entries()) {
    const existing = registry.get(tool.name);
    if (existing === tool) continue;
    if (existing !== undefined)
      throw new LLMInvalidRequestError(`The host has another tool named "${tool.name}".`, {
        path: `tools[${index}].name`,
      });
    registry.register(tool);
  }
  return registry;
}

let shared: AIModule | undefined;

/** Reads the environment when the first agent needs it, which may be after a program has loaded its variables. */
function environmentModule(model: string | undefined): AIModule {
  if (shared !== undefined) return shared;
  const settings = settingsFromEnvironment(processEnvironment());
  if (settings.providers.length === 0) resolveModelName(model, []);
  shared = createAIModule(settings);
  return shared;
}
