/** What a run's page shows right after a fetch. */
import type { DeltaView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { TurnTime } from '../DashboardData';
import { deriveLiveText } from './deriveLiveText';
import { outputItems } from './outputItems';
import { parseItems } from './parseItems';
import type { StreamedRun } from './reduceRun';
import { sortCalls } from './sortCalls';

export interface RunSnapshot {
  readonly run: RunDetailView;
  readonly toolCalls: readonly ToolCallView[];
  readonly deltas: readonly DeltaView[];
}

/** @param previous the run before the fetch, for the times, events and hashes that a snapshot lacks */
export function runFromSnapshot({ run, toolCalls, deltas }: RunSnapshot, previous?: StreamedRun): StreamedRun {
  const items = parseItems(run.transcript ?? run.input);
  return {
    run,
    items,
    calls: sortCalls(toolCalls, items),
    liveText: deriveLiveText(deltas, outputItems(run), run.state),
    turns: previous?.turns ?? new Map<number, TurnTime>(),
    log: previous?.log ?? [],
    argumentHashes: previous?.argumentHashes ?? new Map<string, string>(),
    seq: Math.max(0, ...deltas.map((delta) => delta.seq)),
  };
}
