/** Counts what callers attempt in vain, since each attempt is an entry that stays for as long as the trail is kept. */
const HOUR_MS = 3_600_000;
const MAX_CALLERS = 10_000;

/** Per caller and hour. */
export const MAX_FAILED_ATTEMPTS = 60;

export class FailedAttempts {
  private readonly now: () => number;
  /** Failures in the current hour, by caller: a user with one of their tokens, or signed in. */
  private counts = new Map<string, number>();
  private hour = 0;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /** Whether the caller has failed so often that further failures are not recorded. */
  isExceeded(caller: string): boolean {
    const hour = Math.floor(this.now() / HOUR_MS);
    if (hour !== this.hour) this.counts = new Map();
    this.hour = hour;
    return (this.counts.get(caller) ?? 0) >= MAX_FAILED_ATTEMPTS;
  }

  count(caller: string): void {
    // Beyond that many, each has at least one entry in its own name.
    if (this.counts.size >= MAX_CALLERS && !this.counts.has(caller)) return;
    this.counts.set(caller, (this.counts.get(caller) ?? 0) + 1);
  }
}
