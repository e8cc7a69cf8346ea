/** What a run has cost. What is not known is shown as unknown, with the reason in a tooltip. */
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { formatMoney } from '../format/format';

export function RunCost({
  run: { cost, unpriced, usage },
}: {
  readonly run: Pick<RunView, 'cost' | 'unpriced' | 'usage'>;
}) {
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
