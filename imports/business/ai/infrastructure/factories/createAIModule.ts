/** Wires the module, the same way for Meteor and plain Node. */
import type { PromptSource } from '../../domain/interfaces/PromptSource';
import { AgenticLoop } from '../../application/services/AgenticLoop';
import type { LLMManager, LLMManagerOptions } from '../../application/services/LLMManager';
import { SendGuard } from '../../application/services/SendGuard';
import { VendorObjects } from '../../application/services/VendorObjects';
import { RunSlots } from '../../application/services/queue/RunSlots';
import { RunQueue } from '../../application/services/RunQueue';
import { RunRecovery } from '../../application/services/RunRecovery';
import { MemoryBatchStore } from '../../application/services/batches/MemoryBatchStore';
import type { BudgetPolicy } from '../../../limits/application/BudgetPolicy';
import { ModelRouting } from '../../application/services/routing/ModelRouting';
import { RouteStats } from '../../application/services/routing/RouteStats';
import { RoutingRules } from '../../application/services/routing/RoutingRules';
import type { LeaseTimes } from '../../application/services/runs/durable/LeaseHeartbeat';
import { withoutOutages } from '../../../../log/withoutOutages';
import { programLogger } from '../../../../log/programLogger';
import type { BudgetSettings } from '../../domain/entities/BudgetAccount';
import type { CompactionOptions } from '../../domain/types/Compaction';
import type { RoutingRule } from '../../domain/entities/RoutingRule';
import type { BackgroundCallStore } from '../../domain/interfaces/BackgroundCalls';
import type { BatchStore } from '../../domain/interfaces/BatchStore';
import type { BudgetLimitStore } from '../../../limits/domain/BudgetLimitStore';
import type { BudgetStore } from '../../../limits/domain/BudgetStore';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { Guardrail } from '../../domain/interfaces/Guardrail';
import type { JobQueue } from '../../domain/interfaces/JobQueue';
import type { Memory } from '../../domain/interfaces/Memory';
import type { RequestLog } from '../../../requestLog/domain/RequestLog';
import type { ResponseCache } from '../../domain/interfaces/ResponseCache';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import type { RoutingRuleStore } from '../../domain/interfaces/RoutingRuleStore';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { VendorObjectStore } from '../../domain/interfaces/VendorObjectStore';
import { LocalJobQueue } from '../jobs/LocalJobQueue';
import { Telemetry } from '../telemetry/Telemetry';
import type { TelemetrySettings } from '../telemetry/Telemetry';
import { MemoryVendorObjects } from '../persistence/vendorObjects/MemoryVendorObjects';
import { MemoryRunStore } from '../persistence/runs/MemoryRunStore';
import { MemoryResponseStore } from '../../application/services/chains/MemoryResponseStore';
import { readObject } from '../../domain/util/arguments';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { ToolRegistry } from '../tools/ToolRegistry';
import type { UserLimiter } from '../../../limits/application/UserLimiter';
import { createCallLimits } from '../../../limits/createCallLimits';
import type { ApiTokenPorts, CallLimits } from '../../../limits/createCallLimits';
import { createChat } from './createChat';
import type { ChatPorts, Chat } from './createChat';
import { createManager } from './createManager';
import { createUseCases } from './createUseCases';
import type { UseCasePorts, UseCases } from './createUseCases';
import { LLMProviderFactory } from './LLMProviderFactory';
import type { ProviderSettings } from './LLMProviderFactory';
import { ProviderCatalog } from './ProviderCatalog';
import type { ProviderSource } from './ProviderSource';
import type { ModelOverrides } from '../vendors/readModelOverrides';

/** The default `id` is the vendor's name. */
export type ProviderSettingsInput = Omit<ProviderSettings, 'id'> & { readonly id?: string };

export interface AISettings {
  readonly providers: readonly ProviderSettings[];
  /** For callers that name no provider. */
  readonly defaultProvider?: string;
  readonly temperature?: number;
  readonly systemPrompt?: string;
  /** How runs, answers in chats among them, keep their histories within the model's context window. Default: true. */
  readonly compaction?: boolean | CompactionOptions;
  /** Limits on each user's usage. Default: none. */
  readonly budgets?: BudgetSettings;
  /** Names that requests use as their `model`, and what serves them. Default: none. */
  readonly routing?: readonly RoutingRule[];
  /** Rows that precede those of the vendors' own model tables. A provider's own `models` come before them. */
  readonly models?: ModelOverrides;
  /** What is reported to OpenTelemetry, if the program has its SDK. Default: spans without content. */
  readonly telemetry?: TelemetrySettings;
}

/** The settings as callers write them. */
export interface AIModuleSettings extends Omit<AISettings, 'providers'> {
  /** Optional if `providerSource` supplies providers. */
  readonly providers?: readonly ProviderSettingsInput[];
}

/** What the application host supplies. */
export interface AIModulePorts extends ChatPorts, UseCasePorts {
  readonly tools?: ToolRegistry;
  /** Tokens for providers whose settings have no key. */
  readonly credentials?: CredentialSource;
  /** Stored providers, which come and go at run time, in addition to those of the settings. */
  readonly providerSource?: ProviderSource;
  /** Receives all usage as it is counted. */
  readonly onUsage?: LLMManagerOptions['onUsage'];
  /** Resolves `previous_response_id`, and stores the chains of `LLMClient`s with the manager. Default: in memory. */
  readonly responses?: ResponseStore;
  /** Finds calls in the background after a crash. Default: they are asked anew. */
  readonly backgroundCalls?: BackgroundCallStore;
  /** Records batches at vendors, so that another process continues them. Default: in memory. */
  readonly batches?: BatchStore;
  /** Default: in memory, so that runs end with this process. */
  readonly runs?: RunStore;
  readonly leaseTimes?: Partial<LeaseTimes>;
  /** Milliseconds for which a run waits for a process that has its tools; default 600,000. */
  readonly toolWaitMs?: number | undefined;
  /** Called with the user's id after the new state of a run, or of one of its calls, was stored. */
  readonly onStateStored?: (userId: string) => void;
  /** Schedules queued runs. Default: a queue in this process's memory. */
  readonly jobs?: JobQueue;
  /** Default: in memory, so that budgets count for this process alone. */
  readonly budgets?: BudgetStore;
  /** Limits that admins set at run time. With it, the usage of every user is counted. Default: none. */
  readonly budgetLimits?: BudgetLimitStore;
  /** Check every model call, in this order. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Answers repeated requests that ask for it; `false` answers none. Default: in memory. */
  readonly responseCache?: ResponseCache | false;
  /** The limits of the API tokens that requests present. Default: tokens have none. */
  readonly apiTokens?: ApiTokenPorts;
  /** Limits the tokens per minute of users. Default: they have no limit. */
  readonly userLimiter?: UserLimiter;
  /**
   * Milliseconds since the epoch, for budgets, rate limits, the response cache, and the age of routing rules. Default:
   * the system's clock.
   */
  readonly now?: () => number;
  /** Routing rules that admins save at run time. Default: none. */
  readonly routingRules?: RoutingRuleStore;
  /** What is remembered about users. Default: nothing, so that nothing can be recalled. */
  readonly memories?: Memory;
  /** Saved prompts that requests name. Default: none. */
  readonly prompts?: PromptSource;
  /** Receives an entry for each model call. Default: calls are not logged. */
  readonly requestLog?: RequestLog | undefined;
  /** Who made which of the objects that vendors store. Default: in memory. */
  readonly vendorObjects?: VendorObjectStore;
}

export interface AIModule {
  readonly settings: AISettings;
  /** Traces requests, runs, model calls and tools. */
  readonly telemetry: Telemetry;
  readonly providers: ProviderCatalog;
  readonly manager: LLMManager;
  readonly budgetPolicy: BudgetPolicy;
  /** The guardrails of the manager. */
  readonly guardrails: readonly Guardrail[];
  /** Present if tokens may have limits. */
  readonly apiTokens?: NonNullable<CallLimits['apiTokens']>;
  /** Routing rules, and what serves them. */
  readonly routing: ModelRouting;
  readonly tools: ToolRegistry;
  readonly loop: AgenticLoop;
  /** What is remembered about users. */
  readonly memories?: Memory;
  /** Resolves `previous_response_id`. */
  readonly responses: ResponseStore;
  /** Who may name which object at a vendor. */
  readonly vendorObjects: VendorObjects;
  /** Checks requests from outside. */
  readonly sendGuard: SendGuard;
  readonly conversations: Chat;
  readonly useCases: UseCases;
  readonly runs: RunStore;
  /** Runs jobs at their time, or as soon as a worker is free. */
  readonly jobs: JobQueue;
  /** Starts queued runs. Must be started itself. */
  readonly queue: RunQueue;
  /** Recovers orphaned runs. Must be started itself. */
  readonly recovery: RunRecovery;
  /** Resolves when what all calls so far have used is stored in the budgets. */
  readonly usageSettled: () => Promise<void>;
  /**
   * Takes no queued runs and no runs of lost processes any more, and drains the loop: see `AgenticLoop.drain`.
   * @param over fires when the time for what is in progress is over
   */
  drain(over: AbortSignal): Promise<void>;
  /**
   * Stops all activity in this process. Runs in a durable store continue in the process that takes them over, at once.
   * @param over fires when scheduled tasks in progress are no longer awaited. Default: never
   */
  close(over?: AbortSignal): Promise<void>;
}

const SETTINGS = Object.keys({
  providers: 0,
  defaultProvider: 0,
  temperature: 0,
  systemPrompt: 0,
  compaction: 0,
  budgets: 0,
  routing: 0,
  models: 0,
  telemetry: 0,
} satisfies Record<keyof AISettings, 0>);
const PORTS = Object.keys({
  tools: 0,
  credentials: 0,
  providerSource: 0,
  onUsage: 0,
  responses: 0,
  backgroundCalls: 0,
  batches: 0,
  runs: 0,
  leaseTimes: 0,
  toolWaitMs: 0,
  onStateStored: 0,
  jobs: 0,
  budgets: 0,
  budgetLimits: 0,
  guardrails: 0,
  responseCache: 0,
  apiTokens: 0,
  userLimiter: 0,
  now: 0,
  routingRules: 0,
  memories: 0,
  prompts: 0,
  requestLog: 0,
  vendorObjects: 0,
  memory: 0,
  turns: 0,
  context: 0,
  storage: 0,
  recall: 0,
  access: 0,
  logger: 0,
  onUse: 0,
  onFollowed: 0,
} satisfies Record<keyof AIModulePorts, 0>);
const CIRCUIT_STATES = ['closed', 'open', 'probing'] as const;

/** @throws LLMInvalidRequestError for invalid settings */
export function createAIModule(input: AIModuleSettings, given: AIModulePorts = {}): AIModule {
  // Boundary: nobody reads what is misspelt, or what belongs to the ports.
  readObject(input, SETTINGS);
  readObject(given, PORTS);
  const ports = given.logger === undefined ? given : { ...given, logger: withoutOutages(programLogger(given.logger)) };
  const settings = { ...input, providers: (input.providers ?? []).map(withId) };
  const providers = new ProviderCatalog(
    settings,
    new LLMProviderFactory(ports.credentials, settings.models),
    ports.providerSource,
  );
  const telemetry = new Telemetry(settings.telemetry, {
    vendorOf: (providerId) => providers.rows().find(({ id }) => id === providerId)?.vendor,
    defaultModelOf: (providerId) => providers.defaultModelOf(providerId),
  });
  const tools = ports.tools ?? new ToolRegistry();
  const logger = ports.logger === undefined ? {} : { logger: ports.logger };
  const responses = ports.responses ?? new MemoryResponseStore();
  const options = omitUndefined({
    directory: providers,
    toolExecutor: tools,
    responseStore: responses,
    batchStore: ports.batches ?? new MemoryBatchStore(),
    ...logger,
    onUsage: ports.onUsage,
  });
  const limits = createCallLimits(settings.budgets, ports);
  const { budgetPolicy } = limits;
  const rules = new RoutingRules({
    settings: settings.routing,
    store: ports.routingRules,
    ...logger,
    clock: ports.now,
  });
  const routing = new ModelRouting({ rules, stats: new RouteStats(), providers });
  const vendorObjects = new VendorObjects({
    store: ports.vendorObjects ?? new MemoryVendorObjects(),
    responses,
    sharedOf: (providerId) => providers.rows().find(({ id }) => id === providerId)?.sharedObjects ?? [],
  });
  const sendGuard = new SendGuard({
    objects: vendorObjects,
    access: ports.access,
    tokens: limits.apiTokens?.policy,
    allowedModelsOf: (providerId) => providers.rows().find(({ id }) => id === providerId)?.allowedModels,
  });
  const manager = createManager(options, limits, {
    ...ports,
    telemetry,
    sendGuard,
    routing,
    defaultModelOf: (providerId) => providers.defaultModelOf(providerId),
  });
  const runs = ports.runs ?? new MemoryRunStore();
  const loop = new AgenticLoop({
    provider: manager,
    toolExecutor: tools,
    runStore: runs,
    instrumentation: telemetry.runInstrumentation,
    onStateStored: ports.onStateStored,
    access: ports.access,
    memory: ports.memories,
    prompts: ports.prompts,
    toolWaitMs: ports.toolWaitMs,
    compaction: settings.compaction,
    ...logger,
    leaseTimes: ports.leaseTimes,
  });
  telemetry.metrics.observe('bolide.run.lease.count', () => [
    { value: loop.local.size, attributes: { 'bolide.lease.state': 'held' } },
    { value: loop.claims.losses, attributes: { 'bolide.lease.state': 'lost' } },
  ]);
  telemetry.metrics.observe('bolide.provider.circuit', () =>
    [...manager.health()].flatMap(([id, { circuit }]) =>
      CIRCUIT_STATES.map((state) => ({
        value: circuit === state ? 1 : 0,
        attributes: { 'bolide.provider.id': id, 'bolide.circuit.state': state },
      })),
    ),
  );
  const jobs = ports.jobs ?? new LocalJobQueue(logger);
  const slots = new RunSlots({ loop, tools, limit: jobs.limits.concurrency });
  const recovery = new RunRecovery({
    loop,
    store: runs,
    slots,
    ...logger,
    lease: ports.leaseTimes?.lease === undefined ? undefined : ports.leaseTimes.lease,
  });
  const conversations = createChat({ settings, loop, tools, runs }, ports);
  recovery.add(conversations.handler);
  const queue = new RunQueue({ loop, store: runs, jobs, tools, slots, instrumentation: telemetry, ...logger });
  recovery.onOwnerLost(() => queue.onProcessLost());
  const useCases = createUseCases({ loop, runs, queue, manager, providers }, ports);
  let stopped: Promise<void> | undefined;
  const stopTaking = (): Promise<void> => {
    recovery.stop();
    conversations.handler.stop();
    stopped ??= queue.stop();
    return stopped;
  };
  const drain = async (over: AbortSignal): Promise<void> => {
    // Reported by `close`, which waits for it.
    stopTaking().catch(() => undefined);
    await loop.drain(over);
  };
  const close = async (over?: AbortSignal): Promise<void> => {
    // Not after the queue: a scheduled task may take long, and the runs must not wait for it.
    await Promise.all([loop.close(), unlessAborted(stopTaking(), over)]);
    telemetry.close();
    await limits.settled();
  };
  return omitUndefined({
    settings,
    telemetry,
    providers,
    manager,
    budgetPolicy,
    apiTokens: limits.apiTokens,
    routing,
    guardrails: ports.guardrails ?? [],
    tools,
    loop,
    memories: ports.memories,
    responses,
    vendorObjects,
    sendGuard,
    conversations,
    useCases,
    runs,
    jobs,
    queue,
    recovery,
    usageSettled: () => limits.settled(),
    drain,
    close,
  });
}

/** Resolves with the work, or when the signal fires. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  let onAbort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) resolve();
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', onAbort);
}

function withId(input: ProviderSettingsInput): ProviderSettings {
  return { ...input, id: input.id ?? input.vendor };
}
