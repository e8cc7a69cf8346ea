/** The sums over all runs that the filters match, not only those of the page. */
import type { RunSummary } from '../../business/ai/domain/types/RunViews';
import type { Loaded } from '../data/DashboardData';
import { formatCount, formatMoney, pluralize } from '../format/format';
import { RUN_STATE_STYLES } from '../format/stateStyles';

export function RunTotals({ summary, isStale }: { readonly summary: Loaded<RunSummary>; readonly isStale: boolean }) {
  if (summary.state === 'failed') return <p className="muted">Couldn’t add up these runs: {summary.error.message}</p>;
  if (summary.state === 'loading') return <p className="run-totals muted">Adding up…</p>;
  const { total, states, usage, cost, unpriced } = summary.value;
  return (
    <p className={isStale ? 'run-totals is-stale' : 'run-totals'}>
      <span>
        <strong className="numeric">{INTEGER.format(total)}</strong> {total === 1 ? 'run' : 'runs'}
      </span>
      {STATES.map((state) => {
        const count = states[state] ?? 0;
        return (
          count > 0 && (
            <span key={state} className={`tone-${RUN_STATE_STYLES[state].tone} run-total-state`}>
              <span className="legend-dot" aria-hidden="true" />
              <span className="numeric">{formatCount(count)}</span> {RUN_STATE_STYLES[state].label.toLowerCase()}
            </span>
          )
        );
      })}
      <span>
        <strong className="numeric">{formatCount(usage.total_tokens)}</strong> tokens
      </span>
      <span>
        <strong className="numeric">{formatMoney(cost)}</strong>
        {unpriced.runs > 0 && (
          <span className="muted" title={[...unpriced.models, ...unpriced.reasons].join('\n')}>
            {' '}
            and the unknown cost of {pluralize(unpriced.runs, 'run')}
          </span>
        )}
      </span>
    </p>
  );
}

const STATES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
const INTEGER = new Intl.NumberFormat('en-US');
