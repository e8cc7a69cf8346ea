/** Times that update while they are shown. */
import { formatRelativeTime, formatDateTime, formatDuration } from '../format/format';
import { useNow } from './useNow';

/** How long something took, or has taken so far. @param start @param end milliseconds since the epoch */
export function Elapsed({ start, end }: { readonly start: number; readonly end?: number | undefined }) {
  const now = useNow(1_000, end === undefined);
  return <span className="numeric">{formatDuration((end ?? Math.max(now, start)) - start)}</span>;
}

export function Ago({ at }: { readonly at: number }) {
  const now = useNow(5_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDateTime(at)}>
      {formatRelativeTime(at, now)}
    </time>
  );
}
