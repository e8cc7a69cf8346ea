import { expect } from 'chai';
import { createUpdateThrottle } from '../../../../../imports/ui/data/http/createUpdateThrottle';

/** A page whose frames and timers fire when the test triggers them. */
class ManualPage {
  time = 0;
  isVisible = true;
  frames: (() => void)[] = [];
  timers: { readonly at: number; readonly callback: () => void }[] = [];
  readonly schedule = createUpdateThrottle({
    now: () => this.time,
    requestFrame: (callback) => this.frames.push(callback),
    setTimer: (callback, milliseconds) => this.timers.push({ at: this.time + milliseconds, callback }),
    isVisible: () => this.isVisible,
  });

  frame(): void {
    for (const callback of this.frames.splice(0)) callback();
  }

  /** Advances the clock and fires the timers that are due by then. */
  pass(milliseconds: number): void {
    this.time += milliseconds;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter((timer) => !due.includes(timer));
    for (const { callback } of due) callback();
  }
}

describe('createUpdateThrottle', () => {
  let page: ManualPage;
  let updates: number;
  const update = (): void => void (updates += 1);
  /** Runs an update whose rendering takes the given time. */
  const runSlowUpdate = (milliseconds: number): void => {
    page.schedule(() => {
      update();
      page.time += milliseconds;
    });
    page.frame();
    page.pass(0);
  };
  beforeEach(() => {
    page = new ManualPage();
    updates = 0;
  });

  it('runs an update at the next frame when none ran recently', () => {
    page.schedule(update);
    expect(updates).to.equal(0);
    page.frame();
    expect(updates).to.equal(1);
  });

  it('rests longer after longer updates, for at most a second', () => {
    for (const [took, rest] of [
      [2, 30],
      [20, 300],
      [5_000, 1_000],
    ] as const) {
      runSlowUpdate(took);
      updates = 0;
      page.schedule(update);
      page.pass(rest - 1);
      page.frame();
      expect(updates, `${rest - 1} ms after ${took} ms`).to.equal(0);
      page.pass(1);
      page.frame();
      expect(updates, `${rest} ms after ${took} ms`).to.equal(1);
      page.pass(0);
      page.pass(10_000);
    }
  });

  it('runs an update once by timer while the page is hidden', () => {
    page.isVisible = false;
    page.schedule(update);
    page.pass(999);
    expect(updates).to.equal(0);
    page.pass(1);
    expect(updates).to.equal(1);
  });

  it('does not wait for a frame that never comes, and does not run twice when it comes late', () => {
    page.schedule(update);
    page.pass(1_000);
    expect(updates).to.equal(1);
    page.frame();
    expect(updates).to.equal(1);
  });
});
