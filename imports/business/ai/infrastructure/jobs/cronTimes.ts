/**
 * The times of cron expressions in time zones whose clocks are changed, the same for all queues. As in the cron of most
 * systems, and unlike in the libraries of the queues, which disagree:
 *
 * - An expression whose hours begin with `*` counts hours as they pass. It skips wall-clock times that do not exist,
 *   and is due again at those that occur twice.
 * - Any other expression is due once for each of its wall-clock times: the first time it occurs, or, if it is left out,
 *   later by as much as the clocks are put forward.
 */
import { Cron } from 'croner';
import type { Schedule } from '../../domain/interfaces/JobQueue';

export const CRON_OPTIONS = { mode: '5-part' } as const;

/** Milliseconds. No clock is changed by more, nor twice within that time. */
const NEAR_MS = 3 * 3_600_000;
/** 20 years: 29 February is not more than eight years after the one before. */
const MAX_PAUSE_MS = 20 * 366 * 86_400_000;

/** @returns the first time after `now`, in milliseconds since the epoch; undefined if it is never due again */
export function nextTimeOf(
  { cron, timezone = 'UTC' }: Pick<Schedule, 'cron' | 'timezone'>,
  now: number,
): number | undefined {
  const zone = zoneOf(timezone);
  // Wall-clock times are computed with as if they were in UTC.
  const pattern = new Cron(cron, { ...CRON_OPTIONS, timezone: 'UTC', paused: true });
  const after = (wall: number): number | undefined => pattern.nextRun(new Date(wall))?.getTime();
  const countsHours = /^(?:\S+\s+\*|@hourly)/i.test(cron.trim());
  const first = after(zone.wallAt(now));
  const [time] = first === undefined ? [] : zone.timesOf(first, countsHours);
  // Around a change, times are not in the order of what the clocks show.
  const shift = Math.max(zone.shiftAt(now), time === undefined ? NEAR_MS : zone.shiftAt(time));
  if (shift === 0) return time;
  let next: number | undefined;
  let wall = after(zone.wallAt(now) - shift);
  while (wall !== undefined && (next === undefined || wall <= zone.wallAt(next) + shift)) {
    for (const each of zone.timesOf(wall, countsHours))
      if (each > now && (next === undefined || each < next)) next = each;
    wall = after(wall);
  }
  return next;
}

/** @returns the latest time up to `now`, in milliseconds since the epoch; undefined if it was not due for years */
export function lastTimeOf(schedule: Pick<Schedule, 'cron' | 'timezone'>, now: number): number | undefined {
  for (let width = 60_000; width < MAX_PAUSE_MS; width *= 2) {
    let last: number | undefined;
    let time = nextTimeOf(schedule, now - width);
    while (time !== undefined && time <= now) {
      last = time;
      time = nextTimeOf(schedule, time);
    }
    if (last !== undefined) return last;
  }
  return undefined;
}

class TimeZone {
  private readonly format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    const numeric = 'numeric';
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
    });
  }

  /** What the clocks show. */
  wallAt(time: number): number {
    return time + this.offsetAt(time);
  }

  /** Milliseconds by which the clocks are changed at about that time; 0 if they are not. */
  shiftAt(time: number): number {
    return Math.abs(this.offsetAt(time + NEAR_MS) - this.offsetAt(time - NEAR_MS));
  }

  /** @returns when the clocks show that time, and it counts */
  timesOf(wall: number, countsHours: boolean): readonly number[] {
    const about = wall - this.offsetAt(wall);
    const before = this.offsetAt(about - NEAR_MS);
    const afterwards = this.offsetAt(about + NEAR_MS);
    if (before === afterwards) return [wall - before];
    const times = [before, afterwards].map((offset) => wall - offset).filter((time) => this.wallAt(time) === wall);
    if (countsHours) return times;
    return times.length === 0 ? [wall - before] : times.slice(0, 1);
  }

  /** Milliseconds ahead of UTC. */
  private offsetAt(time: number): number {
    const parts = new Map(this.format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day = 1] = [parts.get('year'), parts.get('month'), parts.get('day')];
    const shown = Date.UTC(year, month - 1, day, parts.get('hour'), parts.get('minute'), parts.get('second'));
    return shown - Math.floor(time / 1_000) * 1_000;
  }
}

/** By name: there are as many as schedules use. */
const zones = new Map<string, TimeZone>();

function zoneOf(name: string): TimeZone {
  let zone = zones.get(name);
  if (zone === undefined) zones.set(name, (zone = new TimeZone(name)));
  return zone;
}
