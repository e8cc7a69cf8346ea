/** The dashboard's data under Meteor: publications for the data, methods for the commands. */
import { useMemo } from 'react';
import { Meteor } from 'meteor/meteor';
import type { Connection, DashboardData, Loaded, RunDetails } from '../DashboardData';
import { deriveLiveText } from '../reducers/deriveLiveText';
import { outputItems } from '../reducers/outputItems';
import { parseItems } from '../reducers/parseItems';
import { sortCalls } from '../reducers/sortCalls';
import { toDashboardError } from './callMethod';
import { DELTAS, PROVIDERS, RUNS, STATISTICS, STATUS, TOOL_CALLS } from './collections';
import { countTools } from './countTools';
import { createAccessReader } from './createAccessReader';
import { createMeteorCommands } from './createMeteorCommands';
import { createRunList } from './createRunList';
import { trackDocuments } from './trackDocuments';
import { trackRun } from './trackRun';
import { trackSubscription } from './trackSubscription';
import type { SubscriptionStatus } from './trackSubscription';
import { trackToolCalls } from './trackToolCalls';
import { useToolList } from './useToolList';
import { useTracked } from './useTracked';

/** To be called once, outside of components: the result holds the state of the dashboard's session. */
export function createMeteorData(): DashboardData {
  const readAccess = createAccessReader();
  const toListedRuns = createRunList();
  return {
    useAccess: () => useTracked(readAccess, []),
    useSimulationNotice: () => useTracked(readStatus, []).simulationNotice,
    useConnection: () => useTracked(readConnection, []).connection,
    useRuns() {
      const { runs, calls, runStatus, callStatus } = useTracked(readRuns, []);
      const listed = useMemo(() => toListedRuns(runs, calls), [runs, calls]);
      return toLoaded(listed, runStatus, callStatus);
    },
    useRun(executionId) {
      const { run, toolCalls, deltas, ...status } = useTracked(() => readRun(executionId), [executionId]);
      const items = useMemo(() => parseItems(run?.transcript ?? run?.input), [run?.transcript, run?.input]);
      const details = useMemo((): RunDetails | undefined => {
        if (run === undefined) return undefined;
        return {
          run,
          items,
          calls: sortCalls(toolCalls, items),
          liveText: deriveLiveText(deltas, outputItems(run), run.state),
          turns: new Map(),
          log: [],
          argumentHashes: new Map(),
        };
      }, [run, items, toolCalls, deltas]);
      return toLoaded(details, status);
    },
    useTools() {
      const tools = useToolList();
      const { toolCalls, ...status } = useTracked(readToolCalls, []);
      const listed = tools.state === 'ready' ? tools.value : undefined;
      const counted = useMemo(() => listed && countTools(listed, toolCalls), [listed, toolCalls]);
      return counted === undefined ? tools : toLoaded(counted, status);
    },
    useProviders() {
      const { providers, status } = useTracked(readProviders, []);
      return toLoaded(providers, status);
    },
    useStatistics() {
      const { counts, status } = useTracked(readStatistics, []);
      return toLoaded(counts, status);
    },
    commands: createMeteorCommands(),
  };
}

const AWAITING_APPROVAL = { state: 'awaiting_approval' };

const readRuns = () => ({
  runs: trackDocuments({ collection: RUNS, sort: { createdAt: -1 } }),
  calls: trackDocuments({ collection: TOOL_CALLS, selector: AWAITING_APPROVAL }),
  runStatus: trackSubscription('ai.runs', {}),
  callStatus: trackSubscription('ai.toolCalls', { ...AWAITING_APPROVAL, summary: true }),
});

const readRun = (executionId: string) => ({
  ...trackRun(executionId),
  toolCalls: trackToolCalls(executionId).toolCalls,
  deltas: trackDocuments({ collection: DELTAS, selector: { executionId }, sort: { seq: 1 } }),
});

const readToolCalls = () => ({
  toolCalls: trackDocuments({ collection: TOOL_CALLS }),
  ...trackSubscription('ai.toolCalls', { summary: true }),
});

const readProviders = () => ({
  providers: trackDocuments({ collection: PROVIDERS, sort: { name: 1 } }),
  status: trackSubscription('ai.providers', {}),
});

const readStatistics = () => ({
  counts: trackDocuments({ collection: STATISTICS }),
  status: trackSubscription('ai.stats', {}),
});

const readConnection = (): { connection: Connection } => {
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
function readStatus(): { readonly simulationNotice: string | undefined } {
  trackSubscription('ai.status', {});
  const [status] = trackDocuments({ collection: STATUS });
  return { simulationNotice: status?.simulationNotice };
}
