/**
 * The pure part of the run engine under schedules that seeds choose, without promises, timers or contexts: as many as
 * take some seconds. `BOLIDE_SIMULATION_SEED=7` runs one seed only. With `BOLIDE_SOAK` there are a million, which
 * differ each time unless `BOLIDE_SEED` is set.
 */
import { expect } from 'chai';
import { IS_SOAK } from '../../support/soak';
import { describeMachineFailure } from './describeMachineFailure';
import * as machine from './machineProgram';
import type { MachinePlan } from './MachinePlan';
import { planMachineSchedule } from './planMachineSchedule';
import { shrinkMachinePlan } from './shrinkMachinePlan';
import { simulateMachine } from './simulateMachine';

const SCHEDULES = IS_SOAK ? 1_000_000 : 15_000;
/** Seeds, outside of those, that have found what others had not. */
const TELLING: readonly number[] = [];
/** How many schedules a test runs: few, so that its time limit ends hangs only, however busy the machine is. */
const GROUP = 1_000;
/** Seeds of different soaks do not overlap. */
const SEEDS_PER_SOAK = 1_000_000;

const chosen = process.env['BOLIDE_SIMULATION_SEED'];

/** The first seed of each group, and how many there are. */
function groups(): readonly (readonly [first: number, count: number])[] {
  if (chosen !== undefined) return [[Number(chosen), 1]];
  const soak = Number(process.env['BOLIDE_SEED'] ?? Math.floor(Date.now() / 1_000) % SEEDS_PER_SOAK);
  const first = IS_SOAK ? soak * SEEDS_PER_SOAK : 1;
  return Array.from({ length: SCHEDULES / GROUP }, (_, index) => [first + index * GROUP, GROUP]);
}

describe('The machine of a run', () => {
  let schedules = 0;
  let cpu = 0;

  async function run(seed: number): Promise<void> {
    const plan = planMachineSchedule(seed);
    const { problem } = simulateMachine(plan, machine);
    if (problem !== undefined) expect.fail(await describeMachineFailure(plan, problem, machine));
  }

  for (const [first, count] of groups())
    it(`keeps its promises in the schedules ${first} to ${first + count - 1}`, async () => {
      const before = process.cpuUsage();
      for (let seed = first; seed < first + count; seed += 1) await run(seed);
      const { user, system } = process.cpuUsage(before);
      schedules += count;
      cpu += (user + system) / 1e6;
    });

  after(() => {
    if (schedules > 1) console.log(`    ${Math.round(schedules / cpu)} schedules per second of CPU`);
  });

  for (const seed of TELLING) it(`keeps its promises in the schedule ${seed}`, () => run(seed));
});

describe('A schedule of the machine', () => {
  it('gives the same trail whenever it runs', () => {
    const trailOf = (seed: number): string =>
      simulateMachine(planMachineSchedule(seed), machine, true).trail.join('\n');
    const seeds = [1, 2, 3, 4, 5];
    const first = seeds.map(trailOf);
    expect(seeds.toReversed().map(trailOf).toReversed()).to.deep.equal(first);
    expect(first.join('\n')).to.contain('run:completed');
  });

  it('is shrunk to what it fails with', async () => {
    const seed = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((each) => planMachineSchedule(each).faults.length > 1)!;
    const plan = planMachineSchedule(seed);
    const needed = plan.faults[1]!;
    const shrunk = await shrinkMachinePlan(plan, ({ faults }: MachinePlan) => faults.includes(needed));
    expect(shrunk).to.deep.include({ faults: [needed], turns: [], processes: 1, slow: [], streams: false });
  });
});
