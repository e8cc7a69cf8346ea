/** The Meteor source: publications for what is and what happens, methods for what people do. */
import { useEffect, useMemo, useState } from 'react';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { useFind, useSubscribe, useTracker } from 'meteor/react-meteor-data';
import type { DeltaView, RunCountView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { PublicProvider } from '../../../business/providers/domain/entities/PublicProvider';
import type { Connection, DashboardData, ListedRun, Loaded, ToolOffer, WatchedRun } from '../DashboardData';
import { readItems } from '../reducers/reduceRun';
import { sortCalls } from '../reducers/sortCalls';
import { readAccess } from './MeteorAccess';
import { applyMethod, createMeteorCommands } from './MeteorCommands';
import { countTools } from './countTools';
import { NO_TOKENS } from '../reducers/runUsage';
import { liveText } from '../reducers/liveText';

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
      const asking = useFind(() => calls.find({ state: 'awaiting_approval' }), []);
      const listed = useMemo(() => listRuns(found, asking), [found, asking]);
      return loaded(isLoading() || isLoadingCalls(), listed);
    },
    useRun(executionId) {
      const isLoading = useSubscribe('ai.run', { executionId });
      const [run] = useFind(() => runs.find({ _id: executionId }), [executionId]);
      const ofRun = useFind(() => calls.find({ executionId }, { sort: { startTime: 1 } }), [executionId]);
      const pieces = useFind(() => deltas.find({ executionId }, { sort: { seq: 1 } }), [executionId]);
      const items = useMemo(() => readItems(run?.transcript ?? run?.input), [run?.transcript, run?.input]);
      const watched = useMemo((): WatchedRun | undefined => {
        if (run === undefined) return undefined;
        return {
          run: { ...run, usage: { ...NO_TOKENS, ...run.usage } },
          items,
          calls: sortCalls(ofRun, items),
          live: liveText(pieces, items, run.state),
          turns: new Map(),
          log: [],
          hashes: new Map(),
        };
      }, [run, items, ofRun, pieces]);
      return loaded(isLoading(), watched);
    },
    useTools() {
      const isLoading = useSubscribe('ai.toolCalls', {});
      const offered = useOfferedTools();
      const found = useFind(() => calls.find({}), []);
      const counted = useMemo(() => countTools(offered ?? [], found), [offered, found]);
      return loaded(isLoading() || offered === undefined, counted);
    },
    useProviders() {
      const isLoading = useSubscribe('ai.providers');
      const found = useFind(() => providers.find({}, { sort: { name: 1 } }), []);
      return loaded(isLoading(), found);
    },
    useStatistics() {
      const isLoading = useSubscribe('ai.stats');
      const found = useFind(() => statistics.find({}), []);
      return loaded(isLoading(), found);
    },
    commands: createMeteorCommands(),
  };
}

/** Tools are no documents: they change with the server's code alone. */
function useOfferedTools(): readonly ToolOffer[] | undefined {
  const [offered, setOffered] = useState<readonly ToolOffer[]>();
  useEffect(() => {
    let isWanted = true;
    applyMethod<readonly ToolOffer[]>('ai.tools.list', {}).then(
      (tools) => isWanted && setOffered(tools),
      () => isWanted && setOffered([]),
    );
    return () => void (isWanted = false);
  }, []);
  return offered;
}

/** What has come is shown before all of it has. */
function loaded<T>(isLoading: boolean, value: T): Loaded<T> {
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  return isLoading && isEmpty ? { state: 'loading' } : { state: 'ready', value };
}

function listRuns(found: readonly RunDetailView[], asking: readonly ToolCallView[]): readonly ListedRun[] {
  return found.map((run) => ({
    ...run,
    usage: { ...NO_TOKENS, ...run.usage },
    asking: asking.filter((call) => call.executionId === run._id).map((call) => call.callId),
  }));
}

function readConnection(): Connection {
  const { status } = Meteor.status();
  return status === 'connected' ? 'live' : status === 'connecting' ? 'connecting' : 'lost';
}
