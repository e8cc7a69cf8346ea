/** One user's budget: a bar for each limit, and what was used where there is none. */
import type { BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import type { BudgetView } from '../../business/limits/domain/BudgetViews';
import { UserLink } from '../components/User';
import { useNow } from '../components/useNow';
import { formatDateTime, formatDuration, pluralize } from '../format/format';
import { BudgetBar } from './BudgetBar';
import { AMOUNTS, SOURCES, WINDOW_LABELS } from './describeLimits';

export function BudgetRow({
  budget,
  isTeam = false,
  onEdit,
  onRemove,
}: {
  /** A team's has its name as the user's id. */
  readonly budget: BudgetView;
  readonly isTeam?: boolean;
  readonly onEdit?: () => void;
  readonly onRemove?: () => void;
}) {
  const { userId, isOwn, source, changedBy } = budget;
  return (
    <li className="card budget" data-user={userId}>
      <div className="section-head">
        <div>
          <h3 className="budget-user">{isTeam ? <bdi>{userId}</bdi> : <UserLink userId={userId} />}</h3>
          <p className="muted">
            {isOwn ? SOURCES[source] : source === 'none' ? 'No limits' : 'Limits of everyone'}
            {isOwn && changedBy !== undefined && (
              <>
                {' by '}
                <UserLink userId={changedBy} />
              </>
            )}
          </p>
        </div>
        <div className="buttons">
          {onEdit !== undefined && (
            <button
              type="button"
              className="button button-small"
              onClick={onEdit}
              aria-label={`${isOwn ? 'Change limits' : 'Set limits'}: ${userId}`}
            >
              {isOwn ? 'Change limits' : 'Set limits'}
            </button>
          )}
          {onRemove !== undefined && isOwn && source === 'dashboard' && (
            <button
              type="button"
              className="button button-small button-danger"
              onClick={onRemove}
              aria-label={`Remove limits: ${userId}`}
            >
              Remove
            </button>
          )}
        </div>
      </div>
      <div className="budget-windows">
        <Window budget={budget} window="day" />
        <Window budget={budget} window="month" />
      </div>
    </li>
  );
}

function Window({ budget, window }: { readonly budget: BudgetView; readonly window: BudgetWindow }) {
  const now = useNow(60_000);
  const { used, held, resetsAt } = budget.usage[window];
  const limits = budget.limits[window] ?? {};
  return (
    <section className="budget-window" aria-label={`${WINDOW_LABELS[window]}: ${budget.userId}`}>
      <p className="budget-window-head">
        <span>{WINDOW_LABELS[window]}</span>
        <span className="muted" title={formatDateTime(resetsAt)}>
          resets in {formatRemaining(resetsAt - now)}
        </span>
      </p>
      {AMOUNTS.map((amount) => (
        <BudgetBar key={amount} amount={amount} used={used[amount]} held={held[amount]} limit={limits[amount]} />
      ))}
      {used.unpriced !== undefined && (
        <p className="muted budget-note">
          The cost of {pluralize(used.unpriced, 'call')}, or a part of it, is unknown and missing from the money.
        </p>
      )}
    </section>
  );
}

/** Days for long spans: 8 d 4 h. */
function formatRemaining(milliseconds: number): string {
  const hours = Math.floor(milliseconds / 3_600_000);
  if (hours < 24) return formatDuration(Math.max(60_000, Math.round(milliseconds / 60_000) * 60_000));
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
