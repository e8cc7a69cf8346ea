/** The plain-Node source: JSON over HTTP for what is, one stream of events for what happens. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { RunCountView, RunView } from '../../../business/ai/domain/types/RunViews';
import type { PublicProvider } from '../../../business/providers/domain/entities/PublicProvider';
import { DashboardError } from '../DashboardData';
import type { Access, Connection, DashboardData, ListedRun, Loaded, ToolOffer } from '../DashboardData';
import { EventFeed } from './EventFeed';
import { ENDS, reduceRuns, keepRows, needsList } from '../reducers/reduceRuns';
import { reduceRun, fromSnapshot } from '../reducers/reduceRun';
import type { RunSnapshot, StreamedRun } from '../reducers/reduceRun';
import { createHttpCommands } from './httpCommands';
import { HttpConnection } from './HttpConnection';
import { HttpResource } from './HttpResource';
import type { HttpResourcePorts } from './HttpResource';
import { Observable, useLiveValue } from './Observable';

export interface HttpDataPorts {
  readonly fetch: typeof fetch;
  readonly origin?: string;
  /** Calls back once, soon. */
  readonly schedule: (flush: () => void) => void;
  readonly simulationNotice?: string;
  /** Milliseconds between two fetches that events ask for; default 1000. */
  readonly reloadEvery?: number;
  readonly backoff?: (attempt: number) => number;
  readonly longestSilence?: number;
}

/** What the hooks of `createHttpData` read, for readers that are no components. */
export class HttpData {
  readonly access = new Observable<Access>({ state: 'asking' });
  readonly connectionState = new Observable<Connection>('connecting');
  readonly connection: HttpConnection;
  readonly runs: HttpResource<readonly ListedRun[]>;
  readonly tools: HttpResource<readonly ToolOffer[]>;
  readonly providers: HttpResource<readonly PublicProvider[]>;
  readonly statistics: HttpResource<readonly RunCountView[]>;
  private readonly ports: HttpDataPorts;
  private readonly feed: EventFeed;
  private readonly feeds = new Set<EventFeed>();
  private readonly watched = new Map<
    string,
    { readonly resource: HttpResource<StreamedRun | undefined>; readonly feed: EventFeed }
  >();

  constructor(ports: HttpDataPorts) {
    this.ports = ports;
    this.connection = new HttpConnection({
      ...ports,
      onSignedOut: () => this.access.set({ state: 'signedOut', means: 'token' }),
    });
    this.feed = this.feedOf('/runs/stream?brief');
    this.runs = this.resource({
      load: async () => this.listed((await this.connection.get<{ runs: readonly RunView[] }>('/runs')).runs),
      fold: reduceRuns,
      mustReload: needsList,
    });
    const { connection } = this;
    this.tools = this.counted(
      async () => (await connection.get<{ tools: readonly ToolOffer[] }>('/tools')).tools,
      ({ type }) => type.startsWith('tool:'),
    );
    this.providers = this.counted(
      async () => (await connection.get<{ providers: readonly PublicProvider[] }>('/providers')).providers,
      () => false,
    );
    this.statistics = this.counted(
      async () => (await connection.get<{ counts: readonly RunCountView[] }>('/stats')).counts,
      ({ type }) => type === 'run:started' || ENDS.has(type),
    );
  }

  run(executionId: string): HttpResource<StreamedRun | undefined> {
    const path = `/runs/${encodeURIComponent(executionId)}`;
    const known = this.watched.get(executionId);
    if (known !== undefined) return known.resource;
    const feed = this.feedOf(`/runs/stream?executionId=${encodeURIComponent(executionId)}`);
    const resource: HttpResource<StreamedRun | undefined> = this.resource<StreamedRun | undefined>({
      feed,
      load: async () => {
        const snapshot = await orMissing(this.connection.get<RunSnapshot>(path));
        const shown = resource.get();
        return snapshot === undefined
          ? undefined
          : fromSnapshot(snapshot, shown.state === 'ready' ? shown.value : undefined);
      },
      fold: (run, events) => (run === undefined ? run : events.reduce(reduceRun, run)),
      mustReload: (run, events) =>
        run === undefined || events.some(({ type }) => type === 'llm:response' || ENDS.has(type)),
    });
    this.watched.set(executionId, { resource, feed });
    const [oldest] = this.watched;
    if (this.watched.size > KEPT_RUNS && oldest !== undefined) {
      this.watched.delete(oldest[0]);
      this.feeds.delete(oldest[1].feed);
    }
    return resource;
  }

  /** To be called when the network went or came. */
  reconnect(): void {
    for (const feed of this.feeds) feed.reconnect();
  }

  /** Finds out whether the page has a session. */
  async begin(): Promise<void> {
    try {
      await this.connection.get('/session');
      this.access.set({ state: 'signedIn' });
    } catch (error) {
      // Without an answer the pages say what is wrong; a refusal has been noted.
      if (!(error instanceof DashboardError && error.code === 'auth-failed') && this.access.get().state === 'asking')
        this.access.set({ state: 'signedIn' });
    }
  }

  /** Events tell what waits for a decision; for runs that were under way before the page, their calls do. */
  private async listed(runs: readonly RunView[]): Promise<readonly ListedRun[]> {
    const shown = this.runs.get();
    const asking = new Map(shown.state === 'ready' ? shown.value.map((run) => [run._id, run.asking]) : []);
    const unknown = runs.filter((run) => !asking.has(run._id) && isLive(run)).slice(0, MOST_LOOKED_AT);
    await Promise.all(
      unknown.map(async ({ _id }) => {
        const snapshot = await orMissing(this.connection.get<RunSnapshot>(`/runs/${encodeURIComponent(_id)}`));
        asking.set(
          _id,
          (snapshot?.toolCalls ?? []).filter((call) => call.state === 'awaiting_approval').map((call) => call.callId),
        );
      }),
    );
    const listed = runs.map((run) => ({ ...run, asking: isLive(run) ? (asking.get(run._id) ?? []) : [] }));
    return shown.state === 'ready' ? keepRows(shown.value, listed) : listed;
  }

  private feedOf(path: string): EventFeed {
    const { fetch: _fetch, ...ports } = this.ports;
    const feed = new EventFeed({
      ...ports,
      connection: this.connection,
      path,
      onState: (state) => this.connectionState.set(state),
    });
    this.feeds.add(feed);
    return feed;
  }

  /** What the server counts is fetched again when an event says that it changed. */
  private counted<T>(load: () => Promise<T>, isTold: (event: AgentEvent) => boolean): HttpResource<T> {
    return this.resource<T>({ load, fold: (value) => value, mustReload: (_value, events) => events.some(isTold) });
  }

  private resource<T>(
    ports: Omit<HttpResourcePorts<T>, 'feed' | 'reloadEvery'> & { readonly feed?: EventFeed },
  ): HttpResource<T> {
    return new HttpResource<T>({ feed: this.feed, reloadEvery: this.ports.reloadEvery ?? 1_000, ...ports });
  }
}

const KEPT_RUNS = 12;
const MOST_LOOKED_AT = 12;

export function createHttpData(ports: HttpDataPorts): { readonly data: DashboardData; readonly source: HttpData } {
  const source = new HttpData(ports);
  const data: DashboardData = {
    useAccess: () => useLiveValue(source.access),
    useSimulationNotice: () => ports.simulationNotice,
    useConnection: () => useLiveValue(source.connectionState),
    useRuns: () => useLiveValue(source.runs),
    useRun: (executionId) => useLiveValue<Loaded<StreamedRun | undefined>>(source.run(executionId)),
    useTools: () => useLiveValue(source.tools),
    useProviders: () => useLiveValue(source.providers),
    useStatistics: () => useLiveValue(source.statistics),
    commands: createHttpCommands(source),
  };
  return { data, source };
}

function isLive({ state }: RunView): boolean {
  return !isFinished(state);
}

async function orMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof DashboardError && error.code === 'not-found') return undefined;
    throw error;
  }
}
