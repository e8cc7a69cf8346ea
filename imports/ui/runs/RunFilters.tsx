/** Filters by state, provider and text. They are part of the URL, so that a filtered list can be shared. */
import { useMemo } from 'react';
import type { ListedRun } from '../data/DashboardData';
import { Icon } from '../components/Icon';
import { replaceQuery } from '../shell/route';
import type { Route } from '../shell/route';
import { matchesState, STATE_FILTERS } from './filterRuns';
import type { RunFilter, StateFilter } from './filterRuns';

const LABELS = {
  live: 'Active',
  'needs-approval': 'Needs approval',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<StateFilter, string>;

export interface RunFiltersProps {
  readonly route: Route;
  readonly runs: readonly ListedRun[];
  readonly filter: RunFilter;
}

export function RunFilters({ route, runs, filter }: RunFiltersProps) {
  const providers = useMemo(() => [...new Set(runs.map((run) => run.providerId))].sort(), [runs]);
  const change = (next: Partial<{ state: string; provider: string; text: string }>): void => {
    replaceQuery(route, { state: filter.state ?? '', provider: filter.providerId, text: filter.text, ...next });
  };
  return (
    <search className="filters">
      <div className="chips" role="group" aria-label="State">
        <Chip
          label="All"
          amount={runs.length}
          isSelected={filter.state === undefined}
          onSelect={() => change({ state: '' })}
        />
        {STATE_FILTERS.map((state) => (
          <Chip
            key={state}
            label={LABELS[state]}
            amount={runs.filter((run) => matchesState(run, state)).length}
            isSelected={filter.state === state}
            onSelect={() => change({ state })}
          />
        ))}
      </div>
      <label className="search-field">
        <Icon name="search" />
        <span className="visually-hidden">Search title, ID, provider, model or error</span>
        <input
          type="search"
          placeholder="Search runs"
          value={filter.text}
          onChange={(event) => change({ text: event.target.value })}
        />
      </label>
      <label>
        <span className="visually-hidden">Provider</span>
        <select value={filter.providerId} onChange={(event) => change({ provider: event.target.value })}>
          <option value="">All providers</option>
          {providers.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
    </search>
  );
}

function Chip({
  label,
  amount,
  isSelected,
  onSelect,
}: {
  readonly label: string;
  readonly amount: number;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}) {
  return (
    <button type="button" className="chip" aria-pressed={isSelected} onClick={onSelect}>
      {label} <span className="chip-amount numeric">{amount}</span>
    </button>
  );
}
