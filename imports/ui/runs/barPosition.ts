/** Where bars and their labels are on a time axis. */
import type { CSSProperties } from 'react';
import type { Bar } from './buildTimeline';

export function barPosition(bar: Bar, axis: Bar): CSSProperties {
  const span = axis.end - axis.start;
  return {
    ...percent('--from', (bar.start - axis.start) / span),
    ...percent('--length', (bar.end - bar.start) / span),
  };
}

/** Beside the bar, on the side with enough room. */
export function labelPosition(bar: Bar, axis: Bar): CSSProperties {
  const span = axis.end - axis.start;
  const from = (bar.start - axis.start) / span;
  const to = (bar.end - axis.start) / span;
  if (to < 0.86) return { left: `calc(${100 * to}% + 6px)` };
  if (from > 0.14) return { right: `calc(${100 * (1 - from)}% + 6px)` };
  return { right: '6px' };
}

/** A custom property. React's type does not include those. */
export function percent(name: `--${string}`, share: number): CSSProperties {
  return { [name]: `${100 * share}%` };
}
