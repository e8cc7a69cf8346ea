/** The list of runs after a frame's events. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { ListedRun } from '../DashboardData';
import { reduceRunRecord } from './reduceRunRecord';
import { NO_TOKENS } from './runUsage';

/** Rows that no event touched stay the same objects, so that only the others are drawn again. */
export function reduceRuns(runs: readonly ListedRun[], events: readonly AgentEvent[]): readonly ListedRun[] {
  const changed = new Map<string, ListedRun>();
  const known = new Map(runs.map((run) => [run._id, run]));
  for (const event of events) {
    const before = changed.get(event.executionId) ?? known.get(event.executionId) ?? newRun(event);
    if (before === undefined) continue;
    const after = foldAsking(reduceRunRecord(before, event), event);
    if (after !== known.get(event.executionId)) changed.set(event.executionId, after);
  }
  if (changed.size === 0) return runs;
  const began = [...changed.values()].filter((run) => !known.has(run._id)).reverse();
  return [...began, ...runs.map((run) => changed.get(run._id) ?? run)].slice(0, MOST_RUNS);
}

/** What a page keeps; older runs are on the server. */
const MOST_RUNS = 500;

/** The first event of a run says what its row needs, where the server knows it by then. */
function newRun(event: AgentEvent): ListedRun | undefined {
  if (event.type !== 'run:started') return undefined;
  const { executionId, userId, providerId, title, createdAt, at } = event;
  if (providerId === undefined || title === undefined || createdAt === undefined) return undefined;
  return {
    _id: executionId,
    userId,
    providerId,
    title,
    createdAt,
    startedAt: at,
    state: 'running',
    iterations: 0,
    usage: NO_TOKENS,
    asking: [],
  };
}

/** A fetched list with the rows that are shown already wherever they say the same, so that they are not drawn again. */
export function keepRows(shown: readonly ListedRun[], fetched: readonly ListedRun[]): readonly ListedRun[] {
  const known = new Map(shown.map((run) => [run._id, run]));
  return fetched.map((run) => {
    const before = known.get(run._id);
    return before !== undefined && factsOf(before) === factsOf(run) ? before : run;
  });
}

/** The order of fields is nobody's promise. */
function factsOf({ isCalling: _isCalling, usage, error, ...run }: ListedRun): string {
  return JSON.stringify(
    [...Object.entries(run), ...Object.entries(usage), ...Object.entries(error ?? {})].sort(([a], [b]) =>
      a < b ? -1 : 1,
    ),
  );
}

/** A run that is not in the list, and an end, whose cost the server alone knows. */
export function needsList(runs: readonly ListedRun[], events: readonly AgentEvent[]): boolean {
  const known = new Set(runs.map((run) => run._id));
  return events.some((event) => ENDS.has(event.type) || !known.has(event.executionId));
}

export const ENDS: ReadonlySet<AgentEvent['type']> = new Set(['run:completed', 'run:failed', 'run:cancelled']);

function foldAsking(run: ListedRun, event: AgentEvent): ListedRun {
  if (ENDS.has(event.type)) return run.asking.length === 0 ? run : { ...run, asking: [] };
  if (!('callId' in event)) return run;
  const isAsking = run.asking.includes(event.callId);
  if (event.type === 'tool:approval_required' && !isAsking) return { ...run, asking: [...run.asking, event.callId] };
  const isAnswered = event.type === 'tool:executing' || event.type === 'tool:failed' || event.type === 'tool:cancelled';
  return isAnswered && isAsking ? { ...run, asking: run.asking.filter((id) => id !== event.callId) } : run;
}
