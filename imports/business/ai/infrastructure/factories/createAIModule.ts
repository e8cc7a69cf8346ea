/** The module, wired: the same for every host. */
import { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager, LLMManagerOptions } from '../../application/services/LLMManager';
import { RunQueue } from '../../application/services/RunQueue';
import { RunRecovery } from '../../application/services/RunRecovery';
import type { LeaseTimes } from '../../application/services/runs/durable/LeaseHeartbeat';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { JobQueue } from '../../domain/interfaces/JobQueue';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { LocalJobQueue } from '../jobs/LocalJobQueue';
import { MemoryRunStore } from '../persistence/runs/MemoryRunStore';
import { MemoryResponseStore } from '../../application/services/chains/MemoryResponseStore';
import { ToolRegistry } from '../tools/ToolRegistry';
import { createConversations } from './createChat';
import type { ConversationPorts, Conversations } from './createChat';
import { createManager } from './createManager';
import type { BudgetSettings } from './createManager';
import { createUseCases } from './createUseCases';
import type { UseCasePorts, UseCases } from './createUseCases';
import { LLMProviderFactory } from './LLMProviderFactory';
import type { ProviderSettings } from './LLMProviderFactory';
import { ProviderCatalog } from './ProviderCatalog';
import type { ProviderSource } from './ProviderSource';

/** The default `id` is the vendor's name. */
export type ProviderSettingsInput = Omit<ProviderSettings, 'id'> & { readonly id?: string };

export interface AISettings {
  readonly providers: readonly ProviderSettings[];
  /** For callers that name none. */
  readonly defaultProvider?: string;
  readonly temperature?: number;
  readonly systemPrompt?: string;
  /** What each user may use. Default: as much as they like. */
  readonly budgets?: BudgetSettings;
}

/** As callers write them. */
export interface AIModuleSettings extends Omit<AISettings, 'providers'> {
  /** May be left out where a host brings providers of its own. */
  readonly providers?: readonly ProviderSettingsInput[];
}

/** What a host brings. */
export interface AIModulePorts extends ConversationPorts, UseCasePorts {
  readonly tools?: ToolRegistry;
  /** Tokens for providers whose row holds no key. */
  readonly credentials?: CredentialSource;
  /** Providers beside those of the settings, which come and go. */
  readonly kept?: ProviderSource;
  /** Told of everything that was used, as it is counted. */
  readonly onUsage?: LLMManagerOptions['onUsage'];
  /** Default: in memory. */
  readonly responses?: ResponseStore;
  /** Where runs are written down. Default: in memory, so that they end with this process. */
  readonly runs?: RunStore;
  readonly leaseTimes?: Partial<LeaseTimes>;
  /** Who begins queued runs, and when. Default: this process, by a queue in its memory. */
  readonly jobs?: JobQueue;
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
  readonly runs: RunStore;
  /** What is done at its time, or when there is a worker. */
  readonly jobs: JobQueue;
  /** Begins queued runs, once it is started. */
  readonly queue: RunQueue;
  /** Takes over the runs of processes that are gone, once it is started. */
  readonly recovery: RunRecovery;
  /** Stops what is under way here; runs in a store that outlives the process go on with whoever takes them over. */
  close(): Promise<void>;
}

/** @throws LLMInvalidRequestError for settings that cannot work */
export function createAIModule(given: AIModuleSettings, ports: AIModulePorts = {}): AIModule {
  const settings = { ...given, providers: (given.providers ?? []).map(withId) };
  const providers = new ProviderCatalog(settings, new LLMProviderFactory(ports.credentials), ports.kept);
  const tools = ports.tools ?? new ToolRegistry();
  const options = {
    directory: providers,
    toolExecutor: tools,
    ...(ports.onUsage === undefined ? {} : { onUsage: ports.onUsage }),
  };
  const manager = createManager(options, settings.budgets, ports);
  const runs = ports.runs ?? new MemoryRunStore();
  const logger = ports.logger === undefined ? {} : { logger: ports.logger };
  const loop = new AgenticLoop({
    provider: manager,
    toolExecutor: tools,
    runStore: runs,
    ...logger,
    ...(ports.leaseTimes === undefined ? {} : { leaseTimes: ports.leaseTimes }),
  });
  const recovery = new RunRecovery({
    loop,
    store: runs,
    ...logger,
    ...(ports.leaseTimes?.lease === undefined ? {} : { lease: ports.leaseTimes.lease }),
  });
  const responses = ports.responses ?? new MemoryResponseStore();
  const conversations = createConversations({ settings, loop, tools }, ports);
  const jobs = ports.jobs ?? new LocalJobQueue(logger);
  const queue = new RunQueue({ loop, store: runs, jobs, tools, ...logger });
  const useCases = createUseCases({ loop, runs, queue, manager, providers }, ports);
  const close = async (): Promise<void> => {
    recovery.stop();
    await queue.stop();
    await loop.close();
  };
  return {
    settings,
    providers,
    manager,
    tools,
    loop,
    responses,
    conversations,
    useCases,
    runs,
    jobs,
    queue,
    recovery,
    close,
  };
}

function withId(input: ProviderSettingsInput): ProviderSettings {
  return { ...input, id: input.id ?? input.vendor };
}
