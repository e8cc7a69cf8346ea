/** Chooses the run to compare with: one of the latest, or any by its id. */
import { useState } from 'react';
import { useDebounced } from '../../components/useDebounced';
import { useLastReady } from '../../components/list/useLastReady';
import { useData } from '../../hooks/BolideProvider';
import { formatMoney } from '../../format/format';
import { RUN_STATE_STYLES } from '../../format/stateStyles';
import { Ago } from '../../components/Elapsed';
import { EmptyState } from '../../components/EmptyState';
import { StateBadge } from '../../components/StateBadge';
import { WhenLoaded } from '../../components/WhenLoaded';
import { goTo, linkTo } from '../../shell/route';

export function RunPicker({ leftId }: { readonly leftId: string }) {
  const [query, setQuery] = useState('');
  const wanted = query.trim();
  const search = useDebounced(wanted, PAUSE_MS);
  const { shown, isStale } = useLastReady(
    useData().useQuery('ai.runs.list', { limit: MAX_SHOWN, ...(search === '' ? {} : { search }) }),
  );
  return (
    <section className="card run-picker" aria-labelledby="picker-title">
      <h2 id="picker-title">Compare with</h2>
      <form
        className="picker-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted !== '') goTo(linkTo(['runs', leftId, 'diff', wanted]));
        }}
      >
        <input
          type="search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          placeholder="Title, user, tool, or the id of any run"
          aria-label="Find a run, or enter its id"
        />
        <button type="submit" className="button" disabled={wanted === ''}>
          Compare with this id
        </button>
      </form>
      <WhenLoaded loaded={shown} what="runs">
        {({ runs }) => {
          const found = runs.filter(({ _id }) => _id !== leftId);
          if (found.length === 0) return <EmptyState icon="search" title="No other run matches" />;
          return (
            <ul className={isStale ? 'picker-list is-stale' : 'picker-list'} aria-busy={isStale}>
              {found.map((run) => (
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
/** Milliseconds without a key. */
const PAUSE_MS = 200;
