/** Binds every operation to what carries it out. */
import { TokenAdministration } from '../api/tokens/TokenAdministration';
import type { TokenPorts } from '../api/tokens/TokenAdministration';
import { Batches } from '../business/batches/application/Batches';
import { bindOperations } from './bindOperations';
import { OPERATIONS } from './operations';
import type { DefinedOperations } from './operations';
import { Budgets } from '../business/limits/application/Budgets';
import { Inbox } from '../business/ai/application/operations/Inbox';
import { Prompts } from '../business/prompts/application/Prompts';
import { Queue } from '../business/ai/application/operations/Queue';
import { RoutingAdministration } from '../business/ai/application/operations/RoutingAdministration';
import { RunExporter } from '../business/ai/application/operations/RunExporter';
import { RunList } from '../business/ai/application/operations/RunList';
import type { UserBatches } from '../business/batches/application/UserBatches';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import type { JobControl } from '../business/ai/domain/interfaces/JobControl';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { McpServerAdministration } from '../business/mcp/domain/McpServerAdministration';
import type { Memory } from '../business/ai/domain/interfaces/Memory';
import type { McpSignIns } from '../business/mcp/domain/McpSignIns';
import type { UserLookup } from '../business/ai/domain/types/Actor';
import type { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { RequestLogModule } from '../business/requestLog/createRequestLog';
import type { RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import { VENDOR_ROWS } from '../business/ai/infrastructure/vendors/vendors';
import type { ProviderServices } from '../business/providers/application/operations/providerOperations';
import type { OpenedAudit } from '../business/audit/openAudit';
import type { HostStores } from './openHostStores';
import type { UserDataDeletion } from './userData/UserDataDeletion';
import type { UserDataExport } from './userData/UserDataExport';

export interface HostOperationsPorts {
  readonly stores: HostStores;
  readonly module: AIModule;
  readonly runs: RunModule;
  readonly requestLog: RequestLogModule;
  readonly tokens: TokenPorts['tokens'];
  readonly tokenLifetimeMs?: TokenPorts['lifetimeMs'];
  readonly access: AccessPolicy;
  readonly userData: Pick<UserDataDeletion, 'deleteUserData'> & Pick<UserDataExport, 'exportUserData'>;
  readonly audit: Pick<OpenedAudit, 'entries' | 'auditHost'>;
  readonly jobQueue: JobControl;
  readonly mcpServers: McpServerAdministration;
  readonly memories: Memory;
  readonly batches: UserBatches;
  readonly mcpSignIns: McpSignIns;
  readonly providers: ProviderServices['providers'];
  /** Notified of what operations change. */
  readonly changes: Pick<TopicChanges, 'notify'>;
  readonly logger: Logger;
  /** The app's accounts. Absent: any user id may have tokens and budgets. */
  readonly findUser?: UserLookup | undefined;
}

/** Entries of the request log in the export of a run. */
const MAX_EXPORTED_REQUESTS = 1_000;

/** @returns the operations, recorded in the audit trail as their rules say */
export function createHostOperations(ports: HostOperationsPorts): DefinedOperations {
  const { stores, module, runs, requestLog, access, audit, jobQueue, changes, logger } = ports;
  return audit.auditHost(
    bindOperations(OPERATIONS, {
      auditEntries: audit.entries,
      batches: new Batches({
        batches: ports.batches,
        store: stores.userBatches,
        access,
        providers: module.providers,
        logger,
      }),
      budgets: new Budgets({
        policy: module.budgetPolicy,
        limits: stores.budgetLimits,
        accounts: stores.budgets,
        usageSettled: module.usageSettled,
        teams: module.apiTokens && {
          policy: module.apiTokens.teamPolicy,
          limits: stores.teamLimits,
          accounts: stores.teamBudgets,
        },
        onChange: (userId) => changes.notify('budgets', userId),
        logger,
        findUser: ports.findUser,
      }),
      mcpServers: { administration: ports.mcpServers, onChange: () => changes.notify('mcpServers'), logger },
      mcpSignIns: ports.mcpSignIns,
      memory: ports.memories,
      models: { providers: module.providers, access, vendorModels: (vendor) => VENDOR_ROWS[vendor] },
      providers: ports.providers,
      prompts: new Prompts({ store: stores.prompts, onChange: (userId) => changes.notify('prompts', userId) }),
      queue: new Queue({
        jobs: jobQueue,
        runs: stores.queuedRuns,
        ownerOf: runs.ownerOf,
        runNow: (executionId) => module.queue.runNow(executionId),
        onChange: () => changes.notify('queue'),
        logger,
      }),
      routing: new RoutingAdministration({
        routing: module.routing,
        store: stores.routingRules,
        providers: module.providers,
        health: () => module.manager.health(),
        onChange: () => changes.notify('routing'),
        logger,
      }),
      inbox: new Inbox({
        inbox: stores.inbox,
        ownerOf: runs.ownerOf,
        onDismissed: (_executionId, ownerId) => changes.notify('runs', ownerId),
      }),
      requestLog,
      runCommands: runs.commands,
      runExporter: new RunExporter({
        runs: stores.runs,
        requestsOf: (executionId) => requestLog.requests.ofRun(executionId, MAX_EXPORTED_REQUESTS),
      }),
      runList: new RunList({
        list: stores.runList,
        queries: runs.queries,
        ownerOf: runs.ownerOf,
        onChange: (ownerId) => changes.notify('runs', ownerId),
      }),
      tokens: new TokenAdministration({
        tokens: ports.tokens,
        lifetimeMs: ports.tokenLifetimeMs,
        accounts: stores.tokenBudgets,
        usageSettled: module.usageSettled,
        usage: stores.reports,
        logger,
        onChange: (userId) => changes.notify('tokens', userId),
        findUser: ports.findUser,
      }),
      tools: runs.queries,
      usage: stores.reports,
      userData: ports.userData,
    }),
  );
}
