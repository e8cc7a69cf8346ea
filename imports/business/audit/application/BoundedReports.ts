/**
 * Bounds how many entries strangers and refused callers can cause: per key and hour, and in total per day. Reports
 * beyond that are not recorded, which the last one that is recorded says.
 */
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface ReportLimits {
  readonly perKeyAndHour: number;
  readonly perDay: number;
}

export const DEFAULT_REPORT_LIMITS: ReportLimits = { perKeyAndHour: 10, perDay: 1_000 };

export class BoundedReports {
  private readonly limits: ReportLimits;
  private readonly now: () => number;
  /** Reports in this hour, by key. */
  private counts = new Map<string, number>();
  private hour = 0;
  private day = 0;
  private total = 0;

  constructor(limits: ReportLimits = DEFAULT_REPORT_LIMITS, now: () => number = Date.now) {
    this.limits = limits;
    this.now = now;
  }

  /** @returns `last` for the one after which those of the key, or of everyone, are not recorded for a while */
  admit(key: string): 'recorded' | 'last' | 'not-recorded' {
    const now = this.now();
    const [hour, day] = [Math.floor(now / HOUR_MS), Math.floor(now / DAY_MS)];
    if (hour !== this.hour) this.counts = new Map();
    if (day !== this.day) this.total = 0;
    this.hour = hour;
    this.day = day;
    const count = this.counts.get(key) ?? 0;
    const { perKeyAndHour, perDay } = this.limits;
    if (count >= perKeyAndHour || this.total >= perDay) return 'not-recorded';
    // The map stays small: each of its keys has at least one of the reports that `perDay` limits.
    this.counts.set(key, count + 1);
    this.total += 1;
    return count + 1 === perKeyAndHour || this.total === perDay ? 'last' : 'recorded';
  }
}
