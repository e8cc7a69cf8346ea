/** The dashboard's data under Meteor: publications for the data, methods for the commands. */
import { useEffect, useMemo, useState } from 'react';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { useFind, useSubscribe, useTracker } from 'meteor/react-meteor-data';
import type { DeltaView, RunCountView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { PublicProvider } from '../../../business/providers/domain/entities/PublicProvider';
import type { Connection, DashboardData, ListedRun, Loaded, RunDetails, ToolSummary } from '../DashboardData';
import { deriveLiveText } from '../reducers/deriveLiveText';
import { parseItems } from '../reducers/parseItems';
import { sortCalls } from '../reducers/sortCalls';
import { NO_USAGE } from '../reducers/usageView';
import { callMethod } from './callMethod';
import { countTools } from './countTools';
import { createMeteorCommands } from './createMeteorCommands';
import { readAccess } from './readAccess';

export function createMeteorData(): DashboardData {
  const runs = new Mongo.Collection<RunDetailView>('ai_runs');
  const calls = new Mongo.Collection<ToolCallView>('ai_tool_calls');
  const deltas = new Mongo.Collection<DeltaView>('ai_deltas');
  const providers = new Mongo.Collection<PublicProvider>('ai_providers');
  const statistics = new Mongo.Collection<RunCountView>('ai_stats');
  return {
    useAccess: () => useTracker(readAccess, []),
    useSimulationNotice: () => undefined,
    useConnection: () => useTracker(readConnection, []),
    useRuns() {
      const isLoading = useSubscribe('ai.runs', {});
      const isLoadingCalls = useSubscribe('ai.toolCalls', { state: 'awaiting_approval' });
      const found = useFind(() => runs.find({}, { sort: { createdAt: -1 } }), []);
      const awaitingApproval = useFind(() => calls.find({ state: 'awaiting_approval' }), []);
      const listed = useMemo(() => toListedRuns(found, awaitingApproval), [found, awaitingApproval]);
      return toLoaded(isLoading() || isLoadingCalls(), listed);
    },
    useRun(executionId) {
      const isLoading = useSubscribe('ai.run', { executionId });
      const [run] = useFind(() => runs.find({ _id: executionId }), [executionId]);
      const runCalls = useFind(() => calls.find({ executionId }, { sort: { startTime: 1 } }), [executionId]);
      const runDeltas = useFind(() => deltas.find({ executionId }, { sort: { seq: 1 } }), [executionId]);
      const items = useMemo(() => parseItems(run?.transcript ?? run?.input), [run?.transcript, run?.input]);
      const details = useMemo((): RunDetails | undefined => {
        if (run === undefined) return undefined;
        return {
          run: { ...run, usage: { ...NO_USAGE, ...run.usage } },
          items,
          calls: sortCalls(runCalls, items),
          liveText: deriveLiveText(runDeltas, items, run.state),
          turns: new Map(),
          log: [],
          argumentHashes: new Map(),
        };
      }, [run, items, runCalls, runDeltas]);
      return toLoaded(isLoading(), details);
    },
    useTools() {
      const isLoading = useSubscribe('ai.toolCalls', {});
      const tools = useToolList();
      const found = useFind(() => calls.find({}), []);
      const counted = useMemo(() => countTools(tools ?? [], found), [tools, found]);
      return toLoaded(isLoading() || tools === undefined, counted);
    },
    useProviders() {
      const isLoading = useSubscribe('ai.providers');
      const found = useFind(() => providers.find({}, { sort: { name: 1 } }), []);
      return toLoaded(isLoading(), found);
    },
    useStatistics() {
      const isLoading = useSubscribe('ai.stats');
      const found = useFind(() => statistics.find({}), []);
      return toLoaded(isLoading(), found);
    },
    commands: createMeteorCommands(),
  };
}

/** Tools are not documents: they only change with the server's code, so one call is enough. */
function useToolList(): readonly ToolSummary[] | undefined {
  const [tools, setTools] = useState<readonly ToolSummary[]>();
  useEffect(() => {
    let isMounted = true;
    callMethod<readonly ToolSummary[]>('ai.tools.list', {}).then(
      (list) => isMounted && setTools(list),
      () => isMounted && setTools([]),
    );
    return () => void (isMounted = false);
  }, []);
  return tools;
}

/** Documents that have arrived are shown before the subscription is ready. */
function toLoaded<T>(isLoading: boolean, value: T): Loaded<T> {
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  return isLoading && isEmpty ? { state: 'loading' } : { state: 'ready', value };
}

function toListedRuns(runs: readonly RunDetailView[], awaitingApproval: readonly ToolCallView[]): readonly ListedRun[] {
  return runs.map((run) => ({
    ...run,
    usage: { ...NO_USAGE, ...run.usage },
    awaitingApproval: awaitingApproval.filter((call) => call.executionId === run._id).map((call) => call.callId),
  }));
}

function readConnection(): Connection {
  const { status } = Meteor.status();
  return status === 'connected' ? 'live' : status === 'connecting' ? 'connecting' : 'lost';
}
