/** Filters the list of runs by state, provider and search text. */
import type { ListedRun } from '../data/DashboardData';
import { isLive } from './isLive';

/** `live` covers every state that is not final, `needs-approval` the runs with a call that waits for approval. */
export const STATE_FILTERS = ['live', 'needs-approval', 'completed', 'failed', 'cancelled'] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export interface RunFilter {
  readonly state?: StateFilter;
  readonly providerId: string;
  readonly text: string;
}

export function readRunFilter(query: URLSearchParams): RunFilter {
  const state = STATE_FILTERS.find((candidate) => candidate === query.get('state'));
  return {
    providerId: query.get('provider') ?? '',
    text: query.get('text') ?? '',
    ...(state === undefined ? {} : { state }),
  };
}

export function filterRuns(runs: readonly ListedRun[], filter: RunFilter): readonly ListedRun[] {
  const terms = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '');
  return runs.filter(
    (run) =>
      (filter.state === undefined || matchesState(run, filter.state)) &&
      (filter.providerId === '' || run.providerId === filter.providerId) &&
      matchesText(run, terms),
  );
}

export function matchesState(run: ListedRun, state: StateFilter): boolean {
  if (state === 'live') return isLive(run.state);
  if (state === 'needs-approval') return run.awaitingApproval.length > 0;
  return run.state === state;
}

function matchesText(run: ListedRun, terms: readonly string[]): boolean {
  if (terms.length === 0) return true;
  const text = `${run.title} ${run._id} ${run.providerId} ${run.model ?? ''} ${run.error?.message ?? ''}`.toLowerCase();
  return terms.every((term) => text.includes(term));
}
