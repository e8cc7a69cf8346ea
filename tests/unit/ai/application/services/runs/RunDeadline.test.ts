/** A run's deadline is unaffected by jumps of the wall clock. */
import { expect } from 'chai';
import sinon from 'sinon';
import { RunDeadline } from '../../../../../../imports/business/ai/application/services/runs/RunDeadline';
import { countTimers } from '../../../../../support/countTimers';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('RunDeadline', () => {
  let clock: sinon.SinonFakeTimers;
  let late: sinon.SinonSpy;
  beforeEach(() => {
    clock = sinon.useFakeTimers({ now: 10 * DAY, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    late = sinon.spy();
  });
  afterEach(() => clock.restore());

  for (const [way, jump] of [
    ['forward', HOUR],
    ['back', -HOUR],
  ] as const) {
    it(`counts the same when the wall clock is set ${way} by an hour`, () => {
      const run = new RunDeadline(1_000, 0, { onTimeout: late });
      run.resume();
      clock.tick(300);
      clock.setSystemTime(Date.now() + jump);
      expect(run.elapsedMs).to.equal(300);
      run.pause();
      clock.setSystemTime(Date.now() + jump);
      clock.tick(5_000);
      expect(run.elapsedMs).to.equal(300);
      run.resume();
      clock.tick(699);
      expect(late.called).to.equal(false);
      clock.tick(1);
      expect(late.callCount).to.equal(1);
      run.pause();
      expect(run.elapsedMs).to.equal(1_000);
      expect(countTimers(clock)).to.equal(0);
    });
  }

  it('continues from the time counted by another process', () => {
    const run = new RunDeadline(1_000, 900, { onTimeout: late });
    run.resume();
    clock.tick(99);
    expect([run.elapsedMs, late.called]).to.deep.equal([999, false]);
    clock.tick(1);
    expect(late.callCount).to.equal(1);
  });

  it('accepts a timeout that exceeds the longest timer', () => {
    const run = new RunDeadline(30 * DAY, 0, { onTimeout: late });
    run.resume();
    clock.tick(30 * DAY - 1);
    expect(late.called).to.equal(false);
    clock.tick(1);
    expect(late.callCount).to.equal(1);
    expect(countTimers(clock)).to.equal(0);
  });

  it('can be paused while the second timer of a long timeout runs', () => {
    const run = new RunDeadline(30 * DAY, 0, { onTimeout: late });
    run.resume();
    clock.tick(29 * DAY);
    run.pause();
    expect(countTimers(clock)).to.equal(0);
    expect(run.elapsedMs).to.equal(29 * DAY);
  });
});
