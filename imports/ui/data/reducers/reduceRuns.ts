/** The list of runs after a batch of events. */
import { RUN_END_EVENTS } from '../../../business/ai/domain/types/AgentEvents';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { ListedRun } from '../DashboardData';
import { reduceRunRecord } from './reduceRunRecord';
import { NO_USAGE } from './usageView';

/** Rows that no event affects stay the same objects, so that only the others are rendered again. */
export function reduceRuns(runs: readonly ListedRun[], events: readonly AgentEvent[]): readonly ListedRun[] {
  const changed = new Map<string, ListedRun>();
  const listed = new Map(runs.map((run) => [run._id, run]));
  for (const event of events) {
    const before = changed.get(event.executionId) ?? listed.get(event.executionId) ?? newRun(event);
    if (before === undefined) continue;
    const after = reduceAwaitingApproval(reduceRunRecord(before, event), event);
    if (after !== listed.get(event.executionId)) changed.set(event.executionId, after);
  }
  if (changed.size === 0) return runs;
  const started = [...changed.values()].filter((run) => !listed.has(run._id)).reverse();
  return [...started, ...runs.map((run) => changed.get(run._id) ?? run)].slice(0, MAX_RUNS);
}

/** The limit of the list on the page; older runs stay on the server. */
const MAX_RUNS = 500;

/** A run's first event carries what its row needs, if the server knew it by then. */
function newRun(event: AgentEvent): ListedRun | undefined {
  if (event.type !== 'run:started') return undefined;
  const { executionId, userId, providerId, title, conversationId, createdAt, at } = event;
  if (providerId === undefined || title === undefined || createdAt === undefined) return undefined;
  return {
    _id: executionId,
    userId,
    providerId,
    title,
    ...(conversationId === undefined ? {} : { conversationId }),
    createdAt,
    startedAt: at,
    state: 'running',
    iterations: 0,
    usage: NO_USAGE,
    awaitingApproval: [],
  };
}

/** Replaces fetched rows by the equal rows that are shown already, so that they are not rendered again. */
export function reuseUnchangedRows(shown: readonly ListedRun[], fetched: readonly ListedRun[]): readonly ListedRun[] {
  const shownById = new Map(shown.map((run) => [run._id, run]));
  return fetched.map((run) => {
    const before = shownById.get(run._id);
    return before !== undefined && comparableFields(before) === comparableFields(run) ? before : run;
  });
}

/** Independent of the order of fields, which servers do not guarantee. */
function comparableFields({ isCallingModel: _isCalling, usage, error, ...run }: ListedRun): string {
  return JSON.stringify(
    [...Object.entries(run), ...Object.entries(usage), ...Object.entries(error ?? {})].sort(([a], [b]) =>
      a < b ? -1 : 1,
    ),
  );
}

/** True after an event of an unlisted run, and after the end of a run, whose cost only the server knows. */
export function needsRunList(runs: readonly ListedRun[], events: readonly AgentEvent[]): boolean {
  const listed = new Set(runs.map((run) => run._id));
  return events.some((event) => RUN_END_EVENTS.has(event.type) || !listed.has(event.executionId));
}

function reduceAwaitingApproval(run: ListedRun, event: AgentEvent): ListedRun {
  if (RUN_END_EVENTS.has(event.type)) return run.awaitingApproval.length === 0 ? run : { ...run, awaitingApproval: [] };
  if (!('callId' in event)) return run;
  const isWaiting = run.awaitingApproval.includes(event.callId);
  if (event.type === 'tool:approval_required' && !isWaiting)
    return { ...run, awaitingApproval: [...run.awaitingApproval, event.callId] };
  const isDecided = event.type === 'tool:executing' || event.type === 'tool:failed' || event.type === 'tool:cancelled';
  return isDecided && isWaiting
    ? { ...run, awaitingApproval: run.awaitingApproval.filter((id) => id !== event.callId) }
    : run;
}
