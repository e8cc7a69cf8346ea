/** The dashboard's data under plain Node: snapshots as JSON over HTTP, changes as a stream of events. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import { RUN_END_EVENTS } from '../../../business/ai/domain/types/AgentEvents';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { RunView } from '../../../business/ai/domain/types/RunViews';
import { DashboardError } from '../DashboardData';
import type { Connection, Loaded } from '../DashboardData';
import { QueryStore } from '../queries/QueryStore';
import { reduceRun } from '../reducers/reduceRun';
import type { StreamedRun } from '../reducers/reduceRun';
import { runFromSnapshot } from '../reducers/runFromSnapshot';
import { createPageSchedule } from './createUpdateThrottle';
import { createFeedChanges } from './createFeedChanges';
import { EventFeed } from './EventFeed';
import type { EventFeedListener } from './EventFeed';
import { HttpResource } from './HttpResource';
import type { HttpResourceOptions } from './HttpResource';
import { HttpSession } from './HttpSession';
import type { HttpSessionOptions } from './HttpSession';
import { Observable } from '../Observable';
import type { ReadonlyObservable } from '../Observable';
import { OPERATION_TABLE } from '../operationTable';
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { HttpConnection } from './HttpConnection';
import { operationRequest } from './operationRequest';

export interface HttpDataOptions extends HttpSessionOptions {
  /** Calls `flush` once, when the page is ready for an update. Default: with the next frame, less often under load. */
  readonly schedule?: (flush: () => void) => void;
  readonly simulationNotice?: string;
  /** Minimum milliseconds between two reloads that events cause; default 1000. */
  readonly reloadIntervalMs?: number;
  readonly backoff?: (attempt: number) => number;
  readonly idleTimeoutMs?: number;
  /** Milliseconds between two looks for changes while the page is hidden; default 30,000. */
  readonly hiddenIntervalMs?: number;
}

/** The observable values behind the hooks of `createHttpData`. */
export class HttpData {
  readonly session: HttpSession;
  readonly connectionState = new Observable<Connection>('connecting');
  /** `connectionState`, for which the stream is read as long as someone watches it. */
  readonly watchedConnection: ReadonlyObservable<Connection> = {
    get: () => this.connectionState.get(),
    subscribe: (listener) => {
      const unsubscribe = [this.connectionState.subscribe(listener), this.feed.subscribe(SILENT)];
      return () => unsubscribe.forEach((each) => each());
    },
  };
  readonly queries: QueryStore;
  private readonly options: HttpDataOptions;
  private readonly schedule: (flush: () => void) => void;
  private readonly feed: EventFeed;
  private readonly feeds = new Set<EventFeed>();
  private isVisible = true;
  private readonly openedConversations = new Map<string, HttpResource<readonly RunView[]>>();
  private readonly openedRuns = new Map<
    string,
    { readonly resource: HttpResource<StreamedRun | undefined>; readonly feed: EventFeed }
  >();

  /** @param session the page's; default: one of its own */
  constructor(options: HttpDataOptions, session = new HttpSession(options)) {
    this.options = options;
    this.session = session;
    this.schedule = options.schedule ?? createPageSchedule();
    this.feed = this.createFeed('/api/runs/stream?brief');
    this.queries = new QueryStore({
      ...options,
      call: (name, argument) => callOperation(session.connection, name, argument),
      changes: createFeedChanges(this.feed),
    });
  }

  /** The same resource for the same id, as long as it is among the most recently opened conversations. */
  conversationRuns(conversationId: string): HttpResource<readonly RunView[]> {
    const opened = this.openedConversations.get(conversationId);
    if (opened !== undefined) return opened;
    const resource = this.createReloadedResource(
      async () => (await callOperation(this.session.connection, 'ai.runs.list', { conversationId })).runs,
      (event) => event.type === 'run:started' && event.conversationId === conversationId,
    );
    this.openedConversations.set(conversationId, resource);
    const [oldest] = this.openedConversations.keys();
    if (this.openedConversations.size > MAX_CACHED_RUNS && oldest !== undefined)
      this.openedConversations.delete(oldest);
    return resource;
  }

  /** The same resource for the same id, as long as it is among the most recently opened runs. */
  runDetails(executionId: string | undefined): ReadonlyObservable<Loaded<StreamedRun | undefined>> {
    if (executionId === undefined) return NO_RUN;
    const opened = this.openedRuns.get(executionId);
    if (opened !== undefined) return opened.resource;
    const feed = this.createFeed(`/api/runs/stream?executionId=${encodeURIComponent(executionId)}`);
    const resource: HttpResource<StreamedRun | undefined> = this.createResource<StreamedRun | undefined>({
      feed,
      load: async () => {
        const snapshot = await undefinedIfNotFound(
          callOperation(this.session.connection, 'ai.runs.get', { executionId }),
        );
        const current = resource.get();
        return snapshot === undefined
          ? undefined
          : runFromSnapshot(snapshot, current.state === 'ready' ? current.value : undefined);
      },
      reduce: (run, events) => (run === undefined ? run : events.reduce(reduceRun, run)),
      needsReload: (run, events) =>
        run === undefined || events.some(({ type }) => type === 'llm:response' || RUN_END_EVENTS.has(type)),
      isLast: (events) => events.some(({ type }) => RUN_END_EVENTS.has(type)),
      isFinal: (run) => run !== undefined && isComplete(run),
    });
    this.openedRuns.set(executionId, { resource, feed });
    // A run that is shown stays, or else each rendering would load it again.
    const oldest = [...this.openedRuns].find(([id, run]) => id !== executionId && !run.resource.hasSubscribers);
    if (this.openedRuns.size > MAX_CACHED_RUNS && oldest !== undefined) {
      this.openedRuns.delete(oldest[0]);
      this.feeds.delete(oldest[1].feed);
    }
    return resource;
  }

  /** To be called when the network goes down or comes back. */
  reconnect(): void {
    for (const feed of this.feeds) feed.reconnect();
  }

  /** To be called when the page is hidden or shown: a hidden page leaves its connections to others. */
  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
    for (const feed of this.feeds) feed.setVisible(isVisible);
  }

  private createFeed(path: string): EventFeed {
    const { fetch: _fetch, ...options } = this.options;
    const feed = new EventFeed({
      ...options,
      schedule: this.schedule,
      connection: this.session.connection,
      path,
      onConnectionChange: (state) => this.connectionState.set(state),
    });
    feed.setVisible(this.isVisible);
    this.feeds.add(feed);
    return feed;
  }

  /** A value that only the server can compute: it is fetched again after an event that affects it. */
  private createReloadedResource<T>(
    load: () => Promise<T>,
    isAffectedBy: (event: AgentEvent) => boolean,
  ): HttpResource<T> {
    return this.createResource<T>({
      load,
      reduce: (value) => value,
      needsReload: (_value, events) => events.some(isAffectedBy),
    });
  }

  private createResource<T>(
    options: Omit<HttpResourceOptions<T>, 'feed' | 'reloadIntervalMs'> & { readonly feed?: EventFeed },
  ): HttpResource<T> {
    return new HttpResource<T>({
      feed: this.feed,
      reloadIntervalMs: this.options.reloadIntervalMs ?? 1_000,
      ...options,
    });
  }
}

const SILENT: EventFeedListener = {
  onOpen: () => undefined,
  onEvents: () => undefined,
  onDisconnected: () => undefined,
};
const NO_RUN = new Observable<Loaded<undefined>>({ state: 'ready', value: undefined });
const MAX_CACHED_RUNS = 12;

/** The run has ended, and its record holds all that events have reported. */
function isComplete({ run, liveText }: StreamedRun): boolean {
  return isFinished(run.state) && run.endedAt !== undefined && liveText.text === '' && liveText.reasoning === '';
}

async function undefinedIfNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof DashboardError && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** @throws DashboardError */
async function callOperation<N extends OperationName>(
  connection: HttpConnection,
  name: N,
  argument: ArgumentOf<N>,
): Promise<ResultOf<N>> {
  const entry = OPERATION_TABLE[name];
  const { method, path, body } = operationRequest(entry, argument);
  const response = await connection.request<unknown>(method, path, body);
  const { field } = entry;
  // The contract of the server's own routes types their responses.
  return (field === undefined ? response : (response as Readonly<Record<string, unknown>>)[field]) as ResultOf<N>;
}
