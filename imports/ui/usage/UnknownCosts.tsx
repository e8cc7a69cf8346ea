/** States the requests whose cost is not part of the sums, and why. */
import type { UsageReport } from '../../business/usage/domain/UsageReports';
import { pluralize } from '../format/format';

const SHOWN = 5;

export function UnknownCosts({ unpriced }: Pick<UsageReport, 'unpriced'>) {
  if (unpriced.length === 0) return null;
  const total = unpriced.reduce((sum, { requests }) => sum + requests, 0);
  const hidden = unpriced.length - SHOWN;
  return (
    <div className="usage-unknown" role="note">
      <p>
        <strong>The cost of {pluralize(total, 'request')}, or a part of it, is unknown</strong> and missing from all
        sums:
      </p>
      <ul>
        {unpriced.slice(0, SHOWN).map(({ reason, requests }) => (
          <li key={reason}>
            <bdi>{reason}</bdi>: {pluralize(requests, 'request')}
          </li>
        ))}
        {hidden > 0 && <li>{pluralize(hidden, 'more reason')}</li>}
      </ul>
    </div>
  );
}
