/** Texts that grow with the time. */
import { ago, dateTime, duration } from '../format/format';
import { useNow } from './useNow';

/** How long something took, or takes so far. @param start @param end milliseconds since the epoch */
export function Elapsed({ start, end }: { readonly start: number; readonly end?: number | undefined }) {
  const now = useNow(1_000, end === undefined);
  return <span className="numeric">{duration((end ?? Math.max(now, start)) - start)}</span>;
}

export function Ago({ at }: { readonly at: number }) {
  const now = useNow(5_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {ago(at, now)}
    </time>
  );
}
