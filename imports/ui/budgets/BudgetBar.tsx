/** What is used of a limit, as a bar; without a limit, what is used. */
import type { Amount } from '../../business/ai/domain/entities/BudgetAccount';
import { formatCount, formatMoney } from '../format/format';
import { formatAmount } from './describeLimits';

export function BudgetBar({
  amount,
  used,
  held = 0,
  limit,
}: {
  readonly amount: keyof Amount;
  readonly used: number;
  /** Reserved by calls in progress. */
  readonly held?: number;
  readonly limit: number | undefined;
}) {
  if (limit === undefined)
    return (
      <p className="budget-bar">
        <span className="numeric">{formatAmount(amount, used)}</span> <span className="muted">no limit</span>
      </p>
    );
  const share = limit === 0 ? 1 : used / limit;
  const heldShare = limit === 0 ? 0 : held / limit;
  const tone = share >= 1 ? 'red' : share >= 0.8 ? 'amber' : 'green';
  const text = `${amount === 'money' ? formatMoney(used) : formatCount(used)} of ${formatAmount(amount, limit)}`;
  return (
    <div className={`budget-bar tone-${tone}`}>
      <p>
        <span className="numeric">{text}</span>{' '}
        <span className="numeric budget-share">
          {Math.round(share * 100)} %{share >= 1 && ' · used up'}
        </span>
      </p>
      <progress className="visually-hidden" max={1} value={Math.min(1, share)} aria-label={text} />
      <div className="meter" aria-hidden="true">
        <span style={{ width: `${Math.min(100, share * 100)}%` }} />
        <span
          className="meter-held"
          style={{ width: `${Math.min(100 - Math.min(100, share * 100), heldShare * 100)}%` }}
        />
      </div>
      {held > 0 && <p className="muted budget-note">{formatAmount(amount, held)} reserved by calls in progress</p>}
    </div>
  );
}
