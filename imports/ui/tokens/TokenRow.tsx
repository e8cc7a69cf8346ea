/** One token: who and what it is for, what it may use, and what it has used. */
import type { Amount } from '../../business/ai/domain/entities/BudgetAccount';
import { BudgetBar } from '../budgets/BudgetBar';
import { AMOUNTS, WINDOW_LABELS } from '../budgets/describeLimits';
import { WINDOWS } from '../budgets/limitTexts';
import { UserLink } from '../components/User';
import { useNow } from '../components/useNow';
import { textOfTools } from '../format/toolList';
import { formatCount, formatDateTime, formatMoney, formatRelativeTime, pluralize } from '../format/format';
import type { ApiTokenView } from './ApiTokenView';

const SCOPE_LABELS: Readonly<Record<string, string>> = { generate: 'call models', read: 'read', admin: 'administer' };

export function TokenRow({
  token,
  hasOwner,
  onEdit,
  onRotate,
  onRevoke,
}: {
  readonly token: ApiTokenView;
  readonly hasOwner: boolean;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
}) {
  const now = useNow(30_000);
  const { _id, name, userId, team, tags = [], models, tools, scopes, createdAt, lastUsedAt, usage } = token;
  const { expiresAt, previousExpiresAt } = token;
  const isExpired = expiresAt !== undefined && expiresAt <= now;
  const { calls, money } = usage.month.used;
  return (
    <li className="entry token-entry" data-token={_id}>
      <div className="entry-main">
        <p className="entry-title">
          <bdi>{name}</bdi>
          {team !== undefined && (
            <span className="tag" title="Team">
              <bdi>{team}</bdi>
            </span>
          )}
          {isExpired && <span className="tag tone-red">Expired</span>}
        </p>
        <p className="muted entry-facts">
          {hasOwner && (
            <span>
              Of <UserLink userId={userId} />
            </span>
          )}
          <span>{scopes.map((scope) => SCOPE_LABELS[scope] ?? scope).join(', ')}</span>
          <span title={formatDateTime(createdAt)}>created {formatRelativeTime(createdAt, now)}</span>
          <span>{lastUsedAt === undefined ? 'never used' : `last used ${formatRelativeTime(lastUsedAt, now)}`}</span>
          {expiresAt !== undefined && !isExpired && <span>expires {formatDateTime(expiresAt)}</span>}
          {previousExpiresAt !== undefined && <span>old secret valid until {formatDateTime(previousExpiresAt)}</span>}
          <span>
            {formatMoney(money)} and {pluralize(calls, 'call')} this month
          </span>
        </p>
        {(models !== undefined || tools !== undefined || token.rateLimits !== undefined || tags.length > 0) && (
          <p className="muted entry-facts">
            {models !== undefined && (
              <span>
                Models: <bdi>{models.join(', ')}</bdi>
              </span>
            )}
            {tools !== undefined && (
              <span>
                Tools: <bdi>{textOfTools(tools, ', ')}</bdi>
              </span>
            )}
            {ratesOf(token).map((rate) => (
              <span key={rate}>{rate}</span>
            ))}
            {tags.length > 0 && (
              <span>
                Tags: <bdi>{tags.join(', ')}</bdi>
              </span>
            )}
          </p>
        )}
        <TokenBudgets token={token} />
      </div>
      <div className="buttons">
        <button type="button" className="button button-small" onClick={onEdit} aria-label={`Change token: ${name}`}>
          Change
        </button>
        <button type="button" className="button button-small" onClick={onRotate} aria-label={`Rotate token: ${name}`}>
          Rotate
        </button>
        <button
          type="button"
          className="button button-small button-danger"
          onClick={onRevoke}
          aria-label={`Revoke token: ${name}`}
        >
          Revoke
        </button>
      </div>
    </li>
  );
}

/** A bar for each limit. */
function TokenBudgets({ token: { budgets = {}, usage } }: { readonly token: ApiTokenView }) {
  const bars = WINDOWS.flatMap((window) =>
    AMOUNTS.flatMap((amount: keyof Amount) => {
      const limit = budgets[window]?.[amount];
      return limit === undefined ? [] : [{ window, amount, limit }];
    }),
  );
  if (bars.length === 0) return null;
  return (
    <div className="token-budgets">
      {bars.map(({ window, amount, limit }) => (
        <div key={`${window} ${amount}`}>
          <p className="muted budget-note">{WINDOW_LABELS[window]}</p>
          <BudgetBar
            amount={amount}
            used={usage[window].used[amount]}
            held={usage[window].held[amount]}
            limit={limit}
          />
        </div>
      ))}
    </div>
  );
}

function ratesOf({
  rateLimits: { requestsPerMinute, tokensPerMinute, parallel } = {},
}: ApiTokenView): readonly string[] {
  return [
    ...(requestsPerMinute === undefined ? [] : [`${formatCount(requestsPerMinute)} requests a minute`]),
    ...(tokensPerMinute === undefined ? [] : [`${formatCount(tokensPerMinute)} tokens a minute`]),
    ...(parallel === undefined ? [] : [`${formatCount(parallel)} at a time`]),
  ];
}
