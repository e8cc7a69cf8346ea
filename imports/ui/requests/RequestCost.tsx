/** What a request has cost. What is not known is shown as unknown, with the reason in a tooltip. */
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { formatMoney } from '../format/format';

export function RequestCost({
  request: { cost, unpriced, usage },
}: {
  readonly request: Pick<RequestView, 'cost' | 'unpriced' | 'usage'>;
}) {
  if (unpriced !== undefined)
    return (
      <span title={unpriced} className="unknown-cost">
        {cost === undefined ? 'unknown' : `${formatMoney(cost)} + unknown`}
      </span>
    );
  if (cost !== undefined) return <>{formatMoney(cost)}</>;
  return usage.total_tokens === 0 ? (
    <span title="The vendor reported no tokens for this request.">none</span>
  ) : (
    <span title="No price was recorded." className="unknown-cost">
      unknown
    </span>
  );
}
