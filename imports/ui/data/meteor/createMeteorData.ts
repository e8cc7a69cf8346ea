/** The dashboard's data under Meteor: publications for the data, methods for the commands. */
import { useMemo } from 'react';
import type { DeltaView } from '../../../business/ai/domain/types/RunViews';
import type { Connection, DashboardData, Loaded, RunDetails } from '../DashboardData';
import { useObservable } from '../http/useObservable';
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
import { trackSubscription } from './trackSubscription';
import type { SubscriptionStatus } from './trackSubscription';
import { trackToolCalls } from './trackToolCalls';
import { useTracked } from './useTracked';

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
  const useSource = <T extends object>(read: (source: MeteorSource) => T): T =>
    useTracked(source.Tracker, () => read(source), []);
  const readAccess = createAccessReader(source.Meteor);
  const queries = new QueryStore({
    ...options,
    // DDP would send undefined fields as null.
    call: (name, argument) => callMethod(source.Meteor, name, JSON.parse(JSON.stringify(argument)) as object),
    changes: createMeteorChanges(source),
  });
  return {
    useAccess: () => useSource(readAccess),
    useSimulationNotice: () => useSource(readStatus).simulationNotice,
    useApiUrl: () => useSource(readStatus).apiUrl ?? window.location.origin,
    useConnection: () => useSource(readConnection).connection,
    useRun(executionId) {
      const { run, toolCalls, deltas, ...status } = useTracked(source.Tracker, () => readRun(source, executionId), [
        executionId,
      ]);
      const items = useMemo(() => parseItems(run?.transcript), [run?.transcript]);
      const output = useMemo(() => (run === undefined ? [] : outputItems(run)), [run]);
      const details = useMemo((): RunDetails | undefined => {
        if (run === undefined) return undefined;
        return {
          run,
          items,
          calls: sortCalls(toolCalls, items),
          liveText: deriveLiveText(deltas, output, run.state),
          turns: new Map(),
          log: [],
          argumentHashes: new Map(),
        };
      }, [run, items, output, toolCalls, deltas]);
      return toLoaded(details, status);
    },
    useConversationRuns(conversationId) {
      const { runs, status } = useTracked(source.Tracker, () => readConversation(source, conversationId), [
        conversationId,
      ]);
      return toLoaded(runs, status);
    },
    useQuery(name, argument, use) {
      const { userId } = useSource(readUserId);
      return useObservable(queries.query(name, argument, userId, use));
    },
    call: (name, argument) => queries.call(name, argument),
    commands: createMeteorSession(source.Meteor),
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
