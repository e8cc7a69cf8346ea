/** The dashboard's data under Meteor: publications for the data, methods for the commands. */
import type { DeltaView, RunView } from '../../../business/ai/domain/types/RunViews';
import type { Connection, DashboardData, Loaded, RunDetails } from '../DashboardData';
import { Derived } from '../Derived';
import { memoize } from '../memoize';
import { QueryStore } from '../queries/QueryStore';
import type { QueryStoreOptions } from '../queries/QueryStore';
import { deriveLiveText } from '../reducers/deriveLiveText';
import { outputItems } from '../reducers/outputItems';
import { parseItems } from '../reducers/parseItems';
import { sortCalls } from '../reducers/sortCalls';
import type { BrowserPackages } from './BrowserPackages';
import { callMethod, toDashboardError } from './callMethod';
import { DELTAS, RUNS, STATUS } from './collections';
import { createAccessReader } from './createAccessReader';
import { createMeteorChanges } from './createMeteorChanges';
import { createMeteorSession } from './createMeteorSession';
import { MeteorSource } from './MeteorSource';
import { trackDocuments } from './trackDocuments';
import { trackRun } from './trackRun';
import { TrackedObservable } from './TrackedObservable';
import { trackSubscription } from './trackSubscription';
import type { SubscriptionStatus } from './trackSubscription';
import { trackToolCalls } from './trackToolCalls';

/**
 * To be called once, outside of components: the result holds the state of the dashboard's session.
 * @param options `reloadIntervalMs`: minimum milliseconds between two loads of a list that changes cause; default 1000
 * @throws TypeError for a missing or wrong object, with its import
 */
export function createMeteorData(
  packages: BrowserPackages,
  options: Pick<QueryStoreOptions, 'reloadIntervalMs'> = {},
): DashboardData {
  const source = MeteorSource.of(packages);
  const track = <T extends object>(read: (source: MeteorSource) => T): TrackedObservable<T> =>
    new TrackedObservable(source.Tracker, () => read(source));
  const status = track(readStatus);
  const connection = track(readConnection);
  const user = track(readUserId);
  const queries = new QueryStore({
    ...options,
    // DDP would send undefined fields as null.
    call: (name, argument) => callMethod(source.Meteor, name, JSON.parse(JSON.stringify(argument)) as object),
    changes: createMeteorChanges(source),
  });
  return {
    access: track(createAccessReader(source.Meteor)),
    simulationNotice: new Derived((read) => read(status).simulationNotice),
    apiUrl: new Derived((read) => read(status).apiUrl ?? window.location.origin),
    connection: new Derived((read) => read(connection).connection),
    session: new Derived((read) => read(user).userId),
    run(executionId) {
      const tracked = track(() => readRun(source, executionId));
      const detailsOf = createDetailsReader();
      return new Derived((read) => {
        const { run, toolCalls, deltas, ...status } = read(tracked);
        return toLoaded(run === undefined ? undefined : detailsOf(run, toolCalls, deltas), status);
      });
    },
    conversationRuns(conversationId) {
      const tracked = track(() => readConversation(source, conversationId));
      return new Derived((read) => {
        const { runs, status } = read(tracked);
        // Runs arrive in any order, and the newest one shows the conversation.
        return toLoaded(status.isLoading ? NO_RUNS : runs, status);
      });
    },
    query: (name, argument, use) => queries.query(name, argument, source.Meteor.userId() ?? '', use),
    call: (name, argument) => queries.call(name, argument),
    commands: createMeteorSession(source.Meteor),
  };
}

/** @returns a function that parses what has changed since the last call */
function createDetailsReader() {
  const parse = memoize(parseItems);
  const readOutput = memoize(outputItems);
  return (run: RunDetails['run'], toolCalls: RunDetails['calls'], deltas: readonly DeltaView[]): RunDetails => {
    const items = parse(run.transcript);
    return {
      run,
      items,
      calls: sortCalls(toolCalls, items),
      liveText: deriveLiveText(deltas, readOutput(run), run.state),
      turns: new Map(),
      log: [],
      argumentHashes: new Map(),
    };
  };
}

const readRun = (source: MeteorSource, executionId: string | undefined) => ({
  ...trackRun(source, executionId),
  toolCalls: trackToolCalls(source, executionId).toolCalls,
  deltas:
    executionId === undefined
      ? NO_DELTAS
      : trackDocuments(source, { collection: DELTAS, selector: { executionId }, sort: { seq: 1 } }),
});

const NO_RUNS: readonly RunView[] = [];
const NO_DELTAS: readonly DeltaView[] = [];

const readConversation = (source: MeteorSource, conversationId: string) => ({
  runs: trackDocuments(source, {
    collection: RUNS,
    // Admins also have the runs of others, who may use the same name.
    selector: { conversationId, userId: source.Meteor.userId() },
    sort: { createdAt: -1 },
  }),
  status: trackSubscription(source, 'ai.runs', { conversationId }),
});

const readUserId = ({ Meteor }: MeteorSource) => ({ userId: Meteor.userId() ?? '' });

const readConnection = ({ Meteor }: MeteorSource): { connection: Connection } => {
  const { status } = Meteor.status();
  return { connection: status === 'connected' ? 'live' : status === 'connecting' ? 'connecting' : 'lost' };
};

/** Documents that have arrived are shown before all subscriptions are ready. */
function toLoaded<T>(value: T, ...statuses: readonly SubscriptionStatus[]): Loaded<T> {
  const failed = statuses.find(({ error }) => error !== undefined);
  if (failed !== undefined) {
    const retry = (): void => statuses.forEach((status) => status.retry());
    return { state: 'failed', error: toDashboardError(failed.error), retry };
  }
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  return isEmpty && statuses.some(({ isLoading }) => isLoading) ? { state: 'loading' } : { state: 'ready', value };
}

/** Also for visitors who are not signed in. */
function readStatus(source: MeteorSource): { readonly [N in 'simulationNotice' | 'apiUrl']: string | undefined } {
  trackSubscription(source, 'ai.status', {});
  const [status] = trackDocuments(source, { collection: STATUS });
  return { simulationNotice: status?.simulationNotice, apiUrl: status?.apiUrl };
}
