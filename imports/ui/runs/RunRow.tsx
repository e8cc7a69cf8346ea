/** One run in the list; drawn again only when its own record changes. */
import { memo } from 'react';
import type { ListedRun } from '../data/DashboardData';
import { count, money, plural } from '../format/format';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { Ago, Elapsed } from '../components/Elapsed';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';
import { linkTo } from '../shell/route';
import { isLive } from './filterRuns';

export const RunRow = memo(function RunRow({ run }: { readonly run: ListedRun }) {
  const { _id, title, providerId, model, state, usage, cost, iterations, asking, error } = run;
  const live = isLive(state);
  return (
    <li className={live ? 'run-row is-live' : 'run-row'} data-run={_id} data-state={state}>
      <a href={linkTo(['runs', _id])}>
        <span className="run-state">
          <StateBadge face={RUN_STATE_STYLES[state]} />
        </span>
        <span className="run-what">
          <span className="run-title">{title === '' ? 'Untitled' : title}</span>
          <span className="run-by">
            {asking.length > 0 && (
              <span className="asks tone-amber">
                <Icon name="hand" />
                {plural(asking.length, 'call')} to approve
              </span>
            )}
            <span>{model === undefined ? providerId : `${providerId} / ${model}`}</span>
            {iterations > 0 && <span>{plural(iterations, 'turn')}</span>}
            {error !== undefined && state === 'failed' && <span className="run-error">{error.message}</span>}
          </span>
        </span>
        <span className="run-fact numeric" data-label="Tokens">
          {usage.total_tokens === 0 ? '–' : count(usage.total_tokens)}
        </span>
        <span className="run-fact numeric" data-label="Cost">
          {cost === undefined ? '–' : money(cost)}
        </span>
        <span className="run-fact numeric" data-label="Took">
          {run.startedAt === undefined && !live ? (
            '–'
          ) : (
            <Elapsed start={run.startedAt ?? run.createdAt} end={run.endedAt} />
          )}
        </span>
        <span className="run-fact run-when">
          <Ago at={run.createdAt} />
        </span>
      </a>
    </li>
  );
});
