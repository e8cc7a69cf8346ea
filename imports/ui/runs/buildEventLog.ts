/**
 * The events of a run in order of time: those that were received, and earlier ones as its records imply them: the run,
 * its calls, and its model calls in the request log.
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { LogEntry } from '../data/DashboardData';
import { formatDuration, pluralize } from '../format/format';

export interface EventSources {
  readonly run: RunView;
  readonly calls: readonly ToolCallView[];
  readonly received: readonly LogEntry[];
  readonly requests: readonly RequestView[];
}

export function buildEventLog({ run, calls, received, requests }: EventSources): readonly LogEntry[] {
  const receivedKeys = new Set(received.map(keyOf));
  const implied = [...entriesOfRun(run), ...requests.flatMap(entriesOfRequest), ...calls.flatMap(entriesOfCall)].filter(
    (entry) => !receivedKeys.has(keyOf(entry)),
  );
  return [...implied, ...received]
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => a.entry.at - b.entry.at || a.index - b.index)
    .map(({ entry }) => entry);
}

function keyOf({ type, callId, turn }: LogEntry): string {
  return `${type} ${callId ?? turn ?? ''}`;
}

function entriesOfRun(run: RunView): readonly LogEntry[] {
  const { state, startedAt, endedAt, error } = run;
  const start: LogEntry[] = startedAt === undefined ? [] : [{ at: startedAt, type: 'run:started' }];
  if (endedAt === undefined) return start;
  if (state === 'completed' || state === 'cancelled') return [...start, { at: endedAt, type: `run:${state}` }];
  return [
    ...start,
    { at: endedAt, type: 'run:failed', ...(error === undefined ? {} : { detail: error.message, data: error }) },
  ];
}

function entriesOfRequest(request: RequestView): readonly LogEntry[] {
  const { iteration: turn, at, duration, attempts, error, usage } = request;
  if (turn === undefined) return [];
  return [
    { at, type: 'iteration:start', turn, detail: `turn ${turn}`, data: request },
    ...attempts.map((attempt): LogEntry => ({
      at: at + attempt.at,
      type: 'llm:retry',
      turn,
      detail: `${attempt.providerId}: ${attempt.reason}`,
      data: attempt,
    })),
    {
      at: at + duration,
      type: 'llm:response',
      turn,
      detail: error === undefined ? pluralize(usage.total_tokens, 'token') : `failed: ${error.message}`,
      data: request,
    },
  ];
}

function entriesOfCall(call: ToolCallView): readonly LogEntry[] {
  const { callId, name, state, createdAt, approvalRequestedAt, startTime, endTime, executionTime, error } = call;
  const common = { callId, name, data: call };
  const entries: LogEntry[] = [];
  if (createdAt !== undefined) entries.push({ at: createdAt, type: 'tool:pending', ...common });
  if (approvalRequestedAt !== undefined)
    entries.push({ at: approvalRequestedAt, type: 'tool:approval_required', ...common });
  if (startTime !== undefined) entries.push({ at: startTime, type: 'tool:executing', ...common });
  const type = END_EVENTS[state as keyof typeof END_EVENTS] as LogEntry['type'] | undefined;
  if (endTime === undefined || type === undefined) return entries;
  const detail = error ?? (executionTime === undefined ? undefined : formatDuration(executionTime));
  return [...entries, { at: endTime, type, ...common, ...omitUndefined({ detail }) }];
}

const END_EVENTS = {
  completed: 'tool:completed',
  failed: 'tool:failed',
  timeout: 'tool:timeout',
  cancelled: 'tool:cancelled',
} as const;
