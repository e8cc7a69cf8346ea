/** The module, wired: the same for every host. */
import { AgenticLoop } from '../../application/services/AgenticLoop';
import { LLMManager } from '../../application/services/LLMManager';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import { MemoryResponseStore } from '../persistence/MemoryResponseStore';
import { ToolRegistry } from '../tools/ToolRegistry';
import { createConversations } from './createConversations';
import type { ConversationPorts, Conversations } from './createConversations';
import { createUseCases } from './createUseCases';
import type { UseCasePorts, UseCases } from './createUseCases';
import { LLMProviderFactory } from './LLMProviderFactory';
import type { ProviderSettings } from './LLMProviderFactory';

export interface AISettings {
  readonly providers: readonly ProviderSettings[];
  /** For callers that name none. */
  readonly defaultProvider?: string;
  readonly temperature?: number;
  readonly systemPrompt?: string;
}

/** What a host brings. */
export interface AIModulePorts extends ConversationPorts, UseCasePorts {
  readonly tools?: ToolRegistry;
  /** Tokens for providers whose row holds no key. */
  readonly credentials?: CredentialSource;
  /** Default: in memory. */
  readonly responses?: ResponseStore;
}

export interface AIModule {
  readonly settings: AISettings;
  readonly providers: ReadonlyMap<string, ILLMProvider>;
  readonly manager: LLMManager;
  readonly tools: ToolRegistry;
  readonly loop: AgenticLoop;
  /** What `previous_response_id` finds. */
  readonly responses: ResponseStore;
  readonly conversations: Conversations;
  readonly useCases: UseCases;
}

/** @throws LLMInvalidRequestError for settings that cannot work */
export function createAIModule(settings: AISettings, ports: AIModulePorts = {}): AIModule {
  if (settings.providers.length === 0) throw new LLMInvalidRequestError('no provider is configured', { path: 'providers' });
  const factory = new LLMProviderFactory(ports.credentials);
  const providers = new Map<string, ILLMProvider>();
  settings.providers.forEach((row, index) => {
    if (providers.has(row.id)) throw new LLMInvalidRequestError(`two providers are called '${row.id}'`, { path: `providers[${index}].id` });
    providers.set(row.id, factory.get(row));
  });
  if (settings.defaultProvider !== undefined && !providers.has(settings.defaultProvider)) {
    throw new LLMInvalidRequestError(`the default provider '${settings.defaultProvider}' is not configured`, { path: 'defaultProvider' });
  }
  const tools = ports.tools ?? new ToolRegistry();
  const manager = new LLMManager({ providers: Object.fromEntries(providers), toolExecutor: tools });
  const loop = new AgenticLoop({ provider: manager, toolExecutor: tools });
  const responses = ports.responses ?? new MemoryResponseStore();
  const conversations = createConversations({ settings, loop, tools }, ports);
  const useCases = createUseCases({ loop, manager, providers }, ports);
  return { settings, providers, manager, tools, loop, responses, conversations, useCases };
}
