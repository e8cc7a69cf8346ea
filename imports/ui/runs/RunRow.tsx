/** One run in the list. It is rendered again only when its own record changes. */
import { memo } from 'react';
import type { ListedRun } from '../data/DashboardData';
import { formatCount, formatMoney, pluralize } from '../format/format';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { Ago, Elapsed } from '../components/Elapsed';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';
import { linkTo } from '../shell/route';
import { isLive } from './isLive';

export const RunRow = memo(function RunRow({ run }: { readonly run: ListedRun }) {
  const { _id, title, providerId, model, state, usage, cost, iterations, awaitingApproval, error } = run;
  const live = isLive(state);
  return (
    <li className={live ? 'run-row is-live' : 'run-row'} data-run={_id} data-state={state}>
      <a href={linkTo(['runs', _id])}>
        <span className="run-state">
          <StateBadge style={RUN_STATE_STYLES[state]} />
        </span>
        <span className="run-summary">
          <span className="run-title">{title === '' ? 'Untitled run' : title}</span>
          <span className="run-meta">
            {awaitingApproval.length > 0 && (
              <span className="approval-count tone-amber">
                <Icon name="hand" />
                {pluralize(awaitingApproval.length, 'approval')} needed
              </span>
            )}
            <span>{model === undefined ? providerId : `${providerId} / ${model}`}</span>
            {iterations > 0 && <span>{pluralize(iterations, 'turn')}</span>}
            {error !== undefined && state === 'failed' && <span className="run-error">{error.message}</span>}
          </span>
        </span>
        <span className="run-fact numeric" data-label="Tokens">
          {usage.total_tokens === 0 ? '–' : formatCount(usage.total_tokens)}
        </span>
        <span className="run-fact numeric" data-label="Cost">
          {cost === undefined ? '–' : formatMoney(cost)}
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
