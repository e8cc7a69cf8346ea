/** The events of a run in order of time: those that were received, and earlier ones as its records imply them. */
import type { RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { LogEntry } from '../data/DashboardData';

export function buildEventLog(
  run: RunView,
  calls: readonly ToolCallView[],
  received: readonly LogEntry[],
): readonly LogEntry[] {
  const receivedKeys = new Set(received.map(({ type, callId }) => keyOf(type, callId)));
  const implied = [...entriesOfRun(run), ...calls.flatMap(entriesOfCall)].filter(
    ({ type, callId }) => !receivedKeys.has(keyOf(type, callId)),
  );
  return [...implied, ...received]
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => a.entry.at - b.entry.at || a.index - b.index)
    .map(({ entry }) => entry);
}

function keyOf(type: string, callId = ''): string {
  return `${type} ${callId}`;
}

function entriesOfRun({ state, startedAt, endedAt, error }: RunView): readonly LogEntry[] {
  const start: LogEntry[] = startedAt === undefined ? [] : [{ at: startedAt, type: 'run:started' }];
  if (endedAt === undefined) return start;
  if (state === 'completed' || state === 'cancelled') return [...start, { at: endedAt, type: `run:${state}` }];
  return [...start, { at: endedAt, type: 'run:failed', ...(error === undefined ? {} : { detail: error.message }) }];
}

function entriesOfCall({ callId, name, state, startTime, endTime, error }: ToolCallView): readonly LogEntry[] {
  const start: LogEntry[] = startTime === undefined ? [] : [{ at: startTime, type: 'tool:executing', callId, name }];
  if (endTime === undefined) return start;
  const type = END_EVENTS[state as keyof typeof END_EVENTS] as LogEntry['type'] | undefined;
  return type === undefined
    ? start
    : [...start, { at: endTime, type, callId, name, ...(error === undefined ? {} : { detail: error }) }];
}

const END_EVENTS = {
  completed: 'tool:completed',
  failed: 'tool:failed',
  timeout: 'tool:timeout',
  cancelled: 'tool:cancelled',
} as const;
