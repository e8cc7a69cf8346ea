/** Calls back whenever a schedule is due, but never while an earlier call is in progress. */
import type { Schedule } from '../../domain/interfaces/JobQueue';
import { nextTimeOf } from './cronTimes';

/** Timers are this short so that a clock that is set forward is noticed. */
export const MAX_TIMER_MS = 30_000;

export class ScheduleTimer {
  private readonly schedule: Schedule;
  private readonly onDue: () => Promise<void>;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private calls = 0;

  /** @param onDue never rejects */
  constructor(schedule: Schedule, onDue: () => Promise<void>) {
    this.schedule = schedule;
    this.onDue = onDue;
    this.wait(this.next);
  }

  /** Milliseconds since the epoch; undefined for a schedule that is never due again. */
  get next(): number | undefined {
    return nextTimeOf(this.schedule, Date.now());
  }

  get isBusy(): boolean {
    return this.calls > 0;
  }

  /** Calls back now. @returns resolves when that call has ended */
  async trigger(): Promise<void> {
    this.calls += 1;
    try {
      await this.onDue();
    } finally {
      this.calls -= 1;
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private wait(at: number | undefined): void {
    if (at === undefined) return;
    this.timer = setTimeout(
      () => {
        // A timer may fire slightly early by the clock.
        if (Date.now() < at) {
          this.wait(at);
          return;
        }
        this.wait(this.next);
        if (!this.isBusy) void this.trigger();
      },
      Math.max(0, Math.min(at - Date.now(), MAX_TIMER_MS)),
    );
  }
}
