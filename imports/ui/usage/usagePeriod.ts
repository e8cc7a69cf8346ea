/** The period of a report, as the address names it. */
import type { ArgumentOf } from '../data/operations';

export const RANGES = [
  { name: '24h', label: '24 hours', hours: 24 },
  { name: '7d', label: '7 days', hours: 7 * 24 },
  { name: '30d', label: '30 days', hours: 30 * 24 },
  { name: '90d', label: '90 days', hours: 90 * 24 },
] as const;

export type Period = Pick<ArgumentOf<'ai.usage.report'>, 'from' | 'to' | 'interval'> & { readonly utcOffset: number };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer periods are shown by day. */
const MAX_HOURS = 3 * 24;

/**
 * The last so many hours or days, the current one included.
 * @param now changes the period only once an hour, so that a report stays the same for that long
 */
export function lastHours(hours: number, now: number): Period {
  const end = nextHour(now);
  if (hours <= MAX_HOURS) return { from: end - hours * HOUR, to: end, interval: 'hour', utcOffset: utcOffsetAt(now) };
  const start = startOfDay(now);
  start.setDate(start.getDate() - hours / 24 + 1);
  return { from: start.getTime(), to: end, interval: 'day', utcOffset: utcOffsetAt(now) };
}

/** @returns undefined unless both are dates such as 2026-11-22, in order */
export function customPeriod(from: string, to: string): Period | undefined {
  const [start, last] = [from, to].map((date) => (ISO_DATE.test(date) ? new Date(`${date}T00:00:00`) : undefined));
  if (start === undefined || last === undefined) return undefined;
  last.setDate(last.getDate() + 1);
  const length = last.getTime() - start.getTime();
  // A comparison with NaN is false.
  if (!(length > 0)) return undefined;
  return {
    from: start.getTime(),
    to: last.getTime(),
    interval: length <= MAX_HOURS * HOUR + HOUR ? 'hour' : 'day',
    utcOffset: utcOffsetAt(start.getTime()),
  };
}

/** Returns the period from the start of the day to the end of the current hour. */
export function today(now: number): Period {
  return { from: startOfDay(now).getTime(), to: nextHour(now), interval: 'hour', utcOffset: utcOffsetAt(now) };
}

/** 2026-11-22, in local time. */
export function toIsoDate(at: number): string {
  const date = new Date(at - utcOffsetAt(at) * -60_000);
  return date.toISOString().slice(0, 10);
}

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;

function nextHour(now: number): number {
  return (Math.floor(now / HOUR) + 1) * HOUR;
}

function startOfDay(now: number): Date {
  const start = new Date(now);
  start.setHours(0, 0, 0, 0);
  return start;
}

/** Minutes ahead of UTC. */
function utcOffsetAt(at: number): number {
  return 0 - new Date(at).getTimezoneOffset();
}

export { DAY as DAY_MS };
