import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { DueTimes } from '../../../../../../imports/business/ai/application/services/shared/DueTimes';
import { countTimers } from '../../../../../support/countTimers';

describe('DueTimes', () => {
  let clock: SinonFakeTimers;
  let times: DueTimes;
  let due: string[];
  beforeEach(() => {
    clock = useFakeTimers({ now: 1_000_000 });
    times = new DueTimes();
    due = [];
  });
  afterEach(() => clock.restore());
  const add = (name: string, inMs: number) =>
    times.add(Date.now() + inMs, { onDue: () => due.push(`${name} ${Date.now() - 1_000_000}`) });

  it('calls back at each time with one timer, in whichever order they were added and cancelled', () => {
    const entries = Array.from({ length: 200 }, (_, index) => add(`${index}`, ((index * 37) % 200) + 1));
    for (const [index, entry] of entries.entries()) if (index % 3 === 0) entry.cancel();
    expect(countTimers(clock)).to.equal(1);
    clock.tick(300);
    const expected = Array.from({ length: 200 }, (_, index) => ({ index, at: ((index * 37) % 200) + 1 }))
      .filter(({ index }) => index % 3 !== 0)
      .toSorted((left, right) => left.at - right.at)
      .map(({ index, at }) => `${index} ${at}`);
    expect(due).to.deep.equal(expected);
    expect(times.size).to.equal(0);
    expect(countTimers(clock)).to.equal(0);
  });

  it('holds no timer once the last entry is cancelled', () => {
    const entry = add('a', 5);
    entry.cancel();
    entry.cancel();
    expect(countTimers(clock)).to.equal(0);
    clock.tick(10);
    expect(due).to.deep.equal([]);
  });

  it('waits for months, calls back for what has passed, and notices a clock that is set forward', () => {
    const days = 86_400_000;
    add('month', 60 * days);
    add('past', -5);
    clock.tick(1);
    expect(due).to.deep.equal(['past 0']);
    clock.tick(30 * days);
    expect(due).to.have.length(1);
    clock.setSystemTime(Date.now() + 40 * days);
    clock.tick(30_000);
    expect(due).to.have.length(2);
  });

  it('goes on with the others when one of them throws', () => {
    times.add(Date.now() + 1, {
      onDue: () => {
        throw new Error('broken');
      },
    });
    add('next', 1);
    expect(() => clock.tick(1)).to.throw('broken');
    clock.tick(1);
    expect(due).to.have.length(1);
  });
});
