/** One run in a list. It is rendered again only when its own record changes. */
import { memo } from 'react';
import type { ListedRun, RunView } from '../../business/ai/domain/types/RunViews';
import { Ago, Elapsed } from '../components/Elapsed';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';
import { useIsAdmin } from '../components/useIsAdmin';
import { UserText } from '../components/User';
import { formatCount, pluralize, formatMoney } from '../format/format';
import { runStyle } from '../format/stateStyles';
import { linkTo } from '../shell/route';
import { isLive } from './isLive';

export type RunRowView = ListedRun;

export const RunRow = memo(function RunRow({ run }: { readonly run: RunRowView }) {
  const {
    _id,
    title,
    userId,
    providerId,
    model,
    models = [],
    state,
    usage,
    iterations,
    waitingFor,
    error,
    parked,
    tags = [],
    rating,
  } = run;
  const isAdmin = useIsAdmin();
  const live = isLive(state);
  const shownModel = models.length > 0 ? models.join(', ') : model;
  return (
    <li className={live ? 'run-row is-live' : 'run-row'} data-run={_id} data-state={state}>
      <a href={linkTo(['runs', _id])} data-row>
        <span className="run-state">
          <StateBadge style={runStyle(state, waitingFor)} />
        </span>
        <span className="run-summary">
          <bdi className="run-title">{title === '' ? 'Untitled run' : title}</bdi>
          <span className="run-meta">
            <bdi>{shownModel === undefined ? providerId : `${providerId} / ${shownModel}`}</bdi>
            {isAdmin && <UserText userId={userId} />}
            {iterations > 0 && <span>{pluralize(iterations, 'turn')}</span>}
            {rating !== undefined && (
              <span className={rating === 'up' ? 'tone-green run-rating' : 'tone-red run-rating'}>
                <Icon name={rating === 'up' ? 'check' : 'cross'} /> Rated {rating === 'up' ? 'good' : 'bad'}
              </span>
            )}
            {tags.map((tag) => (
              <bdi key={tag} className="tag">
                {tag}
              </bdi>
            ))}
            {parked !== undefined && <bdi className="run-error">{parked.message}</bdi>}
            {error !== undefined && state === 'failed' && <bdi className="run-error">{error.message}</bdi>}
          </span>
        </span>
        <span className="run-fact numeric" data-label="Tokens">
          {usage.total_tokens === 0 ? '–' : formatCount(usage.total_tokens)}
        </span>
        <span className="run-fact numeric" data-label="Cost">
          <RunCost run={run} />
        </span>
        <span className="run-fact numeric" data-label="Duration">
          {run.startedAt === undefined && !live ? (
            '–'
          ) : (
            <Elapsed start={run.startedAt ?? run.createdAt} end={run.endedAt} />
          )}
        </span>
        <span className="run-fact run-created">
          <Ago at={run.createdAt} />
        </span>
      </a>
    </li>
  );
});

/** What a run has cost. What is not known is shown as unknown, with the reason in a tooltip. */
function RunCost({ run: { cost, unpriced, usage } }: { readonly run: Pick<RunView, 'cost' | 'unpriced' | 'usage'> }) {
  if (unpriced !== undefined) {
    const reasons = [...unpriced.reasons, ...unpriced.models].join('\n');
    return (
      <span title={reasons} className="unknown-cost">
        {cost === undefined ? 'unknown' : `${formatMoney(cost)} + unknown`}
      </span>
    );
  }
  if (cost !== undefined) return formatMoney(cost);
  // Runs of an older version have neither; before the first response, there is nothing to pay.
  return usage.total_tokens === 0 ? '–' : <span title="Recorded before costs were stored.">unknown</span>;
}
