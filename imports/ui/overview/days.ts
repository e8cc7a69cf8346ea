/** Days as the statistics count them: in UTC, written `2026-11-22`. */

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Oldest first, today last. */
export function lastDays(now: number, amount: number): readonly string[] {
  return Array.from({ length: amount }, (_, index) => dayOf(now - (amount - 1 - index) * 86_400_000));
}

/** 22 Nov */
export function shortDay(day: string): string {
  return SHORT_DAY.format(new Date(`${day}T00:00:00Z`));
}

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
