/** Which runs fit what a reader asked for. */
import { RUN_MOVES } from '../../business/ai/domain/entities/Run';
import type { RunState } from '../../business/ai/domain/entities/Run';
import type { ListedRun } from '../data/DashboardData';

/** `live` is all that goes on, `asking` what waits for somebody's decision. */
export const STATE_FILTERS = ['live', 'asking', 'completed', 'failed', 'cancelled'] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export interface RunFilter {
  readonly state?: StateFilter;
  readonly providerId: string;
  readonly text: string;
}

export function readRunFilter(query: URLSearchParams): RunFilter {
  const state = STATE_FILTERS.find((known) => known === query.get('state'));
  return {
    providerId: query.get('provider') ?? '',
    text: query.get('text') ?? '',
    ...(state === undefined ? {} : { state }),
  };
}

export function filterRuns(runs: readonly ListedRun[], filter: RunFilter): readonly ListedRun[] {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return runs.filter(
    (run) =>
      (filter.state === undefined || isIn(run, filter.state)) &&
      (filter.providerId === '' || run.providerId === filter.providerId) &&
      hasWords(run, words),
  );
}

export function isIn(run: ListedRun, state: StateFilter): boolean {
  if (state === 'live') return isLive(run.state);
  if (state === 'asking') return run.asking.length > 0;
  return run.state === state;
}

export function isLive(state: RunState): boolean {
  return RUN_MOVES[state].length > 0;
}

function hasWords(run: ListedRun, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${run.title} ${run._id} ${run.providerId} ${run.model ?? ''} ${run.error?.message ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
