/** The number of runs per provider, and how many of them failed. */
import type { CSSProperties } from 'react';
import type { RunCountView } from '../../business/ai/domain/types/RunViews';
import { formatCount, pluralize } from '../format/format';

export function ProviderBars({ counts }: { readonly counts: readonly RunCountView[] }) {
  const rows = sumByProvider(counts);
  const maximum = Math.max(1, ...rows.map((row) => row.total));
  if (rows.length === 0) return <p className="muted chart-empty">No runs yet.</p>;
  return (
    <ul className="provider-bars">
      {rows.map((row) => (
        <li key={row.providerId}>
          <a href={`#/runs?provider=${encodeURIComponent(row.providerId)}`}>
            <span className="provider-bar-name">{row.providerId}</span>
            <span className="provider-bar-track" aria-hidden="true">
              <span
                className="provider-bar tone-blue"
                style={{ '--length': `${(100 * (row.total - row.failed)) / maximum}%` } as CSSProperties}
              />
              <span
                className="provider-bar tone-red"
                style={{ '--length': `${(100 * row.failed) / maximum}%` } as CSSProperties}
              />
            </span>
            <span className="numeric">
              {formatCount(row.total)} <span className="visually-hidden">runs</span>
            </span>
            {row.failed > 0 && <span className="visually-hidden">, {pluralize(row.failed, 'failed run')}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

function sumByProvider(
  counts: readonly RunCountView[],
): readonly { readonly providerId: string; readonly total: number; readonly failed: number }[] {
  const sums = new Map<string, { total: number; failed: number }>();
  for (const { providerId, state, count: amount } of counts) {
    const sum = sums.get(providerId) ?? { total: 0, failed: 0 };
    sum.total += amount;
    if (state === 'failed') sum.failed += amount;
    sums.set(providerId, sum);
  }
  return [...sums].map(([providerId, sum]) => ({ providerId, ...sum })).sort((a, b) => b.total - a.total);
}
