import { expect } from 'chai';
import { createUpdateThrottle } from '../../../../../imports/ui/data/http/createUpdateThrottle';

/** A page whose frames and timers come when the test says so. */
class Page {
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

  /** Lets time pass, and the timers that are due by then. */
  pass(milliseconds: number): void {
    this.time += milliseconds;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter((timer) => !due.includes(timer));
    for (const { callback } of due) callback();
  }
}

describe('the pace of a page', () => {
  let page: Page;
  let steps: number;
  const step = (): void => void (steps += 1);
  /** A step that takes so long to draw. */
  const slow = (milliseconds: number): void => {
    page.schedule(() => {
      step();
      page.time += milliseconds;
    });
    page.frame();
    page.pass(0);
  };
  beforeEach(() => {
    page = new Page();
    steps = 0;
  });

  it('takes the next frame when nothing was drawn lately', () => {
    page.schedule(step);
    expect(steps).to.equal(0);
    page.frame();
    expect(steps).to.equal(1);
  });

  it('rests longer the longer a step took, and at most a second', () => {
    for (const [took, rest] of [
      [2, 30],
      [20, 300],
      [5_000, 1_000],
    ] as const) {
      slow(took);
      steps = 0;
      page.schedule(step);
      page.pass(rest - 1);
      page.frame();
      expect(steps, `${rest - 1} ms after ${took} ms`).to.equal(0);
      page.pass(1);
      page.frame();
      expect(steps, `${rest} ms after ${took} ms`).to.equal(1);
      page.pass(0);
      page.pass(10_000);
    }
  });

  it('takes in what came where there are no frames, once and without hurry', () => {
    page.isVisible = false;
    page.schedule(step);
    page.pass(999);
    expect(steps).to.equal(0);
    page.pass(1);
    expect(steps).to.equal(1);
  });

  it('does not wait for a frame that never comes, nor take a step twice when it does', () => {
    page.schedule(step);
    page.pass(1_000);
    expect(steps).to.equal(1);
    page.frame();
    expect(steps).to.equal(1);
  });
});
