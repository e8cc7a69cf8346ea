/** Chooses the run to compare with: one of the latest, or any by its id. */
import { useState } from 'react';
import { useData } from '../../hooks/BolideProvider';
import { formatMoney } from '../../format/format';
import { RUN_STATE_STYLES } from '../../format/stateStyles';
import { Ago } from '../../components/Elapsed';
import { EmptyState } from '../../components/EmptyState';
import { StateBadge } from '../../components/StateBadge';
import { WhenLoaded } from '../../components/WhenLoaded';
import { linkTo } from '../../shell/route';

export function RunPicker({ leftId }: { readonly leftId: string }) {
  const runs = useData().useRuns();
  const [query, setQuery] = useState('');
  const wanted = query.trim().toLowerCase();
  return (
    <section className="card run-picker" aria-labelledby="picker-title">
      <h2 id="picker-title">Compare with</h2>
      <form
        className="picker-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (query.trim() !== '') window.location.hash = linkTo(['runs', leftId, 'diff', query.trim()]);
        }}
      >
        <input
          type="search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          placeholder="Title, model, or the id of any run"
          aria-label="Find a run, or enter its id"
        />
        <button type="submit" className="button" disabled={query.trim() === ''}>
          Compare with this id
        </button>
      </form>
      <WhenLoaded loaded={runs} what="runs">
        {(list) => {
          const found = list.filter(
            (run) =>
              run._id !== leftId &&
              [run._id, run.title, run.model ?? '', run.providerId].some((text) => text.toLowerCase().includes(wanted)),
          );
          if (found.length === 0) return <EmptyState icon="search" title="No other run matches" />;
          return (
            <ul className="picker-list">
              {found.slice(0, MAX_SHOWN).map((run) => (
                <li key={run._id}>
                  <a href={linkTo(['runs', leftId, 'diff', run._id])}>
                    <StateBadge style={RUN_STATE_STYLES[run.state]} />
                    <span className="picker-title" dir="auto">
                      {run.title === '' ? 'Untitled run' : run.title}
                    </span>
                    <span className="muted">
                      <bdi>{[run.providerId, run.model].filter((part) => part !== undefined).join(' / ')}</bdi>
                      {run.cost !== undefined && ` · ${formatMoney(run.cost)}`} · <Ago at={run.createdAt} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          );
        }}
      </WhenLoaded>
    </section>
  );
}

const MAX_SHOWN = 30;
