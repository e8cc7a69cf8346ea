/** Formats the hours and days of charts and their tables, in local time. */

export type Interval = 'hour' | 'day';

export const INTERVAL_SECONDS = { hour: 3_600, day: 86_400 } as const;

/** 22 Nov, or 22 Nov, 14:00. */
export function formatInterval(at: number, interval: Interval): string {
  return (interval === 'day' ? DAY : HOUR).format(at);
}

/** For an axis: hours show the time, and midnight the day. */
export function formatTick(at: number, interval: Interval): string {
  return interval === 'day' || new Date(at).getHours() === 0 ? DAY.format(at) : TIME.format(at);
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const HOUR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
