/** The events of a run as far as they are known: those that were seen, and those that its records prove. */
import type { RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { LogEntry } from '../data/DashboardData';

export function eventLogEntries(
  run: RunView,
  calls: readonly ToolCallView[],
  seen: readonly LogEntry[],
): readonly LogEntry[] {
  const known = new Set(seen.map(({ type, callId }) => keyOf(type, callId)));
  const proven = [...ofRun(run), ...calls.flatMap(ofCall)].filter(
    ({ type, callId }) => !known.has(keyOf(type, callId)),
  );
  return [...proven, ...seen]
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => a.entry.at - b.entry.at || a.index - b.index)
    .map(({ entry }) => entry);
}

function keyOf(type: string, callId = ''): string {
  return `${type} ${callId}`;
}

function ofRun({ state, startedAt, endedAt, error }: RunView): readonly LogEntry[] {
  const began: LogEntry[] = startedAt === undefined ? [] : [{ at: startedAt, type: 'run:started' }];
  if (endedAt === undefined) return began;
  if (state === 'completed' || state === 'cancelled') return [...began, { at: endedAt, type: `run:${state}` }];
  return [...began, { at: endedAt, type: 'run:failed', ...(error === undefined ? {} : { detail: error.message }) }];
}

function ofCall({ callId, name, state, startTime, endTime, error }: ToolCallView): readonly LogEntry[] {
  const began: LogEntry[] = startTime === undefined ? [] : [{ at: startTime, type: 'tool:executing', callId, name }];
  if (endTime === undefined) return began;
  const type = ENDS[state as keyof typeof ENDS] as LogEntry['type'] | undefined;
  return type === undefined
    ? began
    : [...began, { at: endTime, type, callId, name, ...(error === undefined ? {} : { detail: error }) }];
}

const ENDS = {
  completed: 'tool:completed',
  failed: 'tool:failed',
  timeout: 'tool:timeout',
  cancelled: 'tool:cancelled',
} as const;
