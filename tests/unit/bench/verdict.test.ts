/** What fails a change for being slower, on machines whose noise is larger than what is looked for. */
import { expect } from 'chai';
import { verdictOf } from '../../../bench/regression/verdict';
import type { Verdict } from '../../../bench/regression/verdict';

/** Ratios of one process, with quartiles of 12 % above and below. */
function batch(ratio: number, seed: number): number[] {
  let state = seed * 7_919 + 1;
  const uniform = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const normal = (): number => Array.from({ length: 12 }, uniform).reduce((sum, each) => sum + each, -6);
  return Array.from({ length: 50 }, () => ratio * Math.exp(0.18 * normal()));
}

/** @returns the verdict once there is one, and after how many processes */
function measured(ratio: number, seed: number): { readonly verdict: Verdict; readonly processes: number } {
  const batches: number[][] = [];
  while (verdictOf(batches) === 'unclear') batches.push(batch(ratio, seed * 100 + batches.length));
  return { verdict: verdictOf(batches), processes: batches.length };
}

const runs = (ratio: number): ReturnType<typeof measured>[] =>
  Array.from({ length: 100 }, (_, seed) => measured(ratio, seed));

describe('the verdict on a change of CPU time', () => {
  it('is the same for equal costs, however noisy', () => {
    expect(runs(1).filter(({ verdict }) => verdict === 'slower')).to.deep.equal([]);
  });

  it('is slower for 12 % more, mostly', () => {
    expect(runs(1.12).filter(({ verdict }) => verdict === 'slower').length).to.be.greaterThan(90);
  });

  it('takes few processes for what is clear', () => {
    const processes = runs(1.5).map((each) => each.processes);
    expect(Math.max(...processes)).to.equal(3);
    expect(Math.max(...runs(0.8).map((each) => each.processes))).to.equal(2);
  });

  it('is open as long as one process may have been lucky', () => {
    expect(verdictOf([batch(1, 1)])).to.equal('unclear');
    expect(verdictOf([batch(1.5, 1), batch(1.5, 2)])).to.equal('unclear');
  });
});
