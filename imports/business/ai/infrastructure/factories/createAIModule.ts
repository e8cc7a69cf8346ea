/** The module, wired: the same for every host. */
import { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager, LLMManagerOptions } from '../../application/services/LLMManager';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import { MemoryResponseStore } from '../persistence/MemoryResponseStore';
import { ToolRegistry } from '../tools/ToolRegistry';
import { createConversations } from './createConversations';
import type { ConversationPorts, Conversations } from './createConversations';
import { createManager } from './createManager';
import type { BudgetSettings } from './createManager';
import { createUseCases } from './createUseCases';
import type { UseCasePorts, UseCases } from './createUseCases';
import { LLMProviderFactory } from './LLMProviderFactory';
import type { ProviderSettings } from './LLMProviderFactory';
import { ProviderCatalog } from './ProviderCatalog';
import type { ProviderRows } from './ProviderRows';

export interface AISettings {
  readonly providers: readonly ProviderSettings[];
  /** For callers that name none. */
  readonly defaultProvider?: string;
  readonly temperature?: number;
  readonly systemPrompt?: string;
  /** What each user may use. Default: as much as they like. */
  readonly budgets?: BudgetSettings;
}

/** What a host brings. */
export interface AIModulePorts extends ConversationPorts, UseCasePorts {
  readonly tools?: ToolRegistry;
  /** Tokens for providers whose row holds no key. */
  readonly credentials?: CredentialSource;
  /** Providers beside those of the settings, which come and go. */
  readonly kept?: ProviderRows;
  /** Told of everything that was used, as it is counted. */
  readonly onUsage?: LLMManagerOptions['onUsage'];
  /** Default: in memory. */
  readonly responses?: ResponseStore;
  /** Where users' budgets are kept. Default: in memory, so that they count for this process alone. */
  readonly budgets?: BudgetStore;
}

export interface AIModule {
  readonly settings: AISettings;
  readonly providers: ProviderCatalog;
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
  const providers = new ProviderCatalog(settings, new LLMProviderFactory(ports.credentials), ports.kept);
  const tools = ports.tools ?? new ToolRegistry();
  const options = { directory: providers, toolExecutor: tools, ...(ports.onUsage === undefined ? {} : { onUsage: ports.onUsage }) };
  const manager = createManager(options, settings.budgets, ports);
  const loop = new AgenticLoop({ provider: manager, toolExecutor: tools });
  const responses = ports.responses ?? new MemoryResponseStore();
  const conversations = createConversations({ settings, loop, tools }, ports);
  const useCases = createUseCases({ loop, manager, providers }, ports);
  return { settings, providers, manager, tools, loop, responses, conversations, useCases };
}
