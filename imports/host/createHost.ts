/** Composes everything that a host serves, in the same way for Meteor and plain Node. */
import { followFamily } from '../api/chat/followFamily';
import { StoredRuns } from '../api/chat/StoredRuns';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import type { FamilyEvent } from '../business/ai/domain/types/AgentEvents';
import type { HttpApi } from '../api/createHttpApi';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';
import { createRunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import { openResponseCache } from '../business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { DocumentRunViews } from '../business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openStores } from '../business/ai/openStores';
import type { AuditTrail } from '../business/audit/application/AuditTrail';
import type { UserLimiter } from '../business/limits/application/UserLimiter';
import type { UserDataPorts } from '../business/privacy/application/userOperations';
import type { SealedDatabase } from '../business/privacy/infrastructure/SealedDatabase';
import type { ServerJobs } from '../business/jobs/application/ServerJobs';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import type { RequestLogModule } from '../business/requestLog/createRequestLog';
import { bindOperations } from './bindOperations';
import type { RunningHost } from './Feature';
import { HostShutdown } from './HostShutdown';
import type { HostPorts, HostSettings } from './HostSettings';
import { openFeatures, startFeatures } from './openFeatures';
import { openHost } from './openHost';
import { OPERATIONS } from './operations';
import type { DefinedOperations, OperationServices } from './operations';
import { serveApi } from './serveApi';
import { openJobQueue } from './openJobQueue';
import { DEFAULT_SHUTDOWN_GRACE_MS } from './settings/host';
import type { UserApiTokens } from './UserApiTokens';

export interface Host {
  readonly apiTokens: UserApiTokens;
  /** Keeps users within their limits, in the app's own ways, too. */
  readonly userLimiter: UserLimiter;
  readonly module: AIModule;
  /** Jobs of the app's own server code. */
  readonly jobs: Pick<ServerJobs, 'define' | 'enqueue' | 'schedule'>;
  readonly providers: ProvidersModule;
  readonly runs: RunModule;
  readonly api: HttpApi;
  /** Everything that people read and do, by name: methods in Meteor, routes over HTTP. */
  readonly operations: DefinedOperations;
  /** Notifies open pages of what has changed. */
  readonly changes: TopicChanges;
  /**
   * The events of a run and those of the runs below it, from the beginning, whichever processes execute them, until the
   * run ends: see `followFamily`.
   * @param signal ends the following, not the run
   * @throws LLMInvalidRequestError for an unknown run; LLMConnectionError if another process answers a model call anew,
   *   and differently; `signal.reason`
   */
  follow(executionId: string, signal?: AbortSignal): AsyncGenerator<FamilyEvent, void, undefined>;
  /** Deletes everything that is stored about a user: see `UserDataDeletion`. For apps that delete an account. */
  readonly deleteUserData: UserDataPorts['deleteUserData'];
  /** The lines of everything that is stored about a user, each a JSON object: see `UserDataExport`. */
  exportUserData(userId: string): AsyncGenerator<string>;
  /** Writes the log of model calls in the background. */
  readonly requestLog: Pick<RequestLogModule, 'flush'>;
  /** Milliseconds after which memories expire. Absent: never. */
  readonly memoryMaxAgeMs?: number;
  /** Opens what was read from the database past the host. Absent: nothing is sealed. */
  readonly openContent?: SealedDatabase['open'];
  /** Records what is done in the app's own ways, such as sign-ins. */
  readonly audit: AuditTrail;
  /**
   * Resolves once the database is lost for good, such as when its directory was removed. The host has logged why, and
   * takes no requests and runs any more. All that is left is to close it. Absent: the database is never lost.
   */
  readonly lost?: Promise<void>;
  /**
   * Takes no requests and runs any more, and waits for the model calls and tools of runs in progress. Requests in
   * progress go on.
   * @param hurry ends the waiting
   */
  drain(hurry?: AbortSignal): Promise<void>;
  /**
   * Drains, hands the runs over to other processes, completes the requests in progress, then closes everything, the
   * database last.
   * @param hurry ends the waiting
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** @throws LLMInvalidRequestError for invalid settings; errors of the database */
export async function createHost(settings: HostSettings, ports: HostPorts): Promise<Host> {
  const changes = new TopicChanges();
  const opened = await openHost(settings, ports, changes, {
    aiModule: () => ai,
    onTokenChanged(tokenId) {
      ai.apiTokens?.policy.forget(tokenId);
      ports.dashboard?.sessions.forgetTokens();
      void api.checkToken(tokenId);
    },
    otherSecrets: () => host.started.flatMap(({ reseal }) => (reseal === undefined ? [] : [{ reseal }])),
  });
  const { host: shared, access, providerSource, sealing, apiTokens, secrets } = opened;
  const { database, bounds, notify, providers } = shared;
  const features = await openFeatures(shared);
  const stores = await openStores(database, bounds);
  const jobs = await openJobQueue(settings.jobs ?? {}, database);
  const ai = createAIModule(settings.ai, {
    ...features.ports,
    ...stores.ports,
    responseCache: (settings.responseCache ?? true) && (await openResponseCache(database, { bounds })),
    ...ports.ai,
    guardrails: [...(settings.guardrails ?? []), ...(ports.ai?.guardrails ?? [])],
    toolWaitMs: settings.jobs?.toolWaitMs,
    ...{ jobs, providerSource, access },
    credentials: providers.credentials,
    storage: shared.storage,
    onUsage: (used) => shared.tokenUsage.record(used),
    onFollowed: (executionId) => stores.inbox.markHandled(executionId),
    onStateStored: (userId) => {
      notify('runs', userId);
      notify('calls', userId);
    },
  });
  const runs = createRunModule(ai, {
    collection: database.collection.bind(database),
    views: new DocumentRunViews(database),
    limits: settings.callLimits ?? {},
    access,
    runEvents: stores.runEvents,
    relayTimes: ports.relayTimes,
  });
  ai.conversations.showLiveText(runs);
  await runs.ready();
  const host: RunningHost = {
    ...{ ...shared, ai, runs, stores, jobs, access, started: [] },
    cancelRequests: (userId) => api.cancelUser(userId),
  };
  const started = await startFeatures(host, features);
  const audit = started.audit.opened;
  const services = Object.assign({}, ...host.started.map((feature) => feature.services)) as OperationServices;
  const operations = audit.recordOperations(OPERATIONS, bindOperations(OPERATIONS, services, shared.storage));
  // Chats and AG-UI decide about calls, too.
  const audited = { ...runs, methods: operations };
  const shutdownGraceMs = settings.shutdownGraceMs ?? DEFAULT_SHUTDOWN_GRACE_MS;
  const { userLimiter } = started.limits;
  const api: HttpApi = await serveApi(
    host,
    { apiTokens, secrets, chats: started.api.chats, userLimiter, audit, mcpFlow: started.mcp.flow, shutdownGraceMs },
    {
      operations: { definitions: OPERATIONS, bound: operations },
      runs: audited,
      changes,
      requestLog: features.ports.requestLog,
    },
  );
  const shutdown = new HostShutdown({
    ...{ api, module: ai, graceMs: shutdownGraceMs, noticeMs: settings.shutdownNoticeMs ?? 0 },
    onDrain: () => host.started.forEach((feature) => feature.leave?.()),
  });
  // Another process may have its runs by now, and what this one knows of users and tokens is no longer so.
  const lost = database.lost?.then((error) => {
    shared.logger.error(error.message);
    shutdown.drain(AbortSignal.abort()).catch(() => undefined);
  });
  const storedRuns = new StoredRuns(ai);
  const { deletion, dataExport } = started.privacy;
  return {
    ...{ apiTokens, userLimiter, providers, runs: audited, api, operations, changes, module: ai },
    jobs: started.jobs.serverJobs,
    async *follow(executionId, signal = new AbortController().signal) {
      if ((await runs.ownerOf(executionId)) === undefined)
        throw new LLMInvalidRequestError(`Unknown run "${executionId}".`, { path: 'executionId' });
      const watch = (userId: string): (() => void) => runs.watch(userId);
      const ports = { live: runs.live, watch, stored: storedRuns, tools: ai.tools };
      yield* followFamily(ports, executionId, { signal, over: new AbortController().signal });
    },
    deleteUserData: audit.auditDeletion(deletion.deleteUserData),
    async *exportUserData(userId) {
      await audit.recordExport(userId);
      yield* dataExport.lines(userId);
    },
    requestLog: started.requestLog.services.requestLog,
    audit: audit.trail,
    ...omitUndefined({ lost, memoryMaxAgeMs: settings.memory?.maxAgeMs, openContent: sealing?.database.open }),
    drain: (hurry) => shutdown.drain(hurry),
    async close(hurry) {
      await shutdown.handOver(hurry);
      for (const feature of host.started) await feature.close?.();
      await database.close();
    },
  };
}
