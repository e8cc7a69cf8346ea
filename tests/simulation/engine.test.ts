/**
 * The run engine under schedules of faults that are chosen by seeds. `BOLIDE_SIMULATION_SEED=7` runs one seed only.
 * With `BOLIDE_SOAK` there are many times as many, which differ each time unless `BOLIDE_SEED` is set.
 */
import { expect } from 'chai';
import { IS_SOAK } from '../support/soak';
import { bundledEngine } from './EngineBundle';
import type { EngineBundle } from './EngineBundle';
import { describeFailure } from './describeFailure';
import type { Plan } from './Plan';
import { planSchedule } from './planSchedule';
import { shrinkPlan } from './shrinkPlan';
import { simulate } from './simulate';

/** How many schedules `npm test` runs on each store: as many as take seven seconds together. */
const SCHEDULES = { memory: 75, documents: 30 } as const satisfies Record<Plan['store'], number>;
/** Seeds that have found what those before them had not. */
const TELLING: Readonly<Record<Plan['store'], readonly number[]>> = {
  memory: [9_498_901_497, 970_301_742],
  documents: [300, 676, 970_300_978],
};
/** How many of them a test runs: few, so that its time limit ends hangs only, however busy the machine is. */
const GROUP = 5;
/** How many times as many the soak runs. */
const SOAK = 50;
/** Seeds of different soaks do not overlap. */
const SEEDS_PER_SOAK = 100_000;

const chosen = process.env['BOLIDE_SIMULATION_SEED'];

function seedsFor(store: Plan['store']): readonly number[] {
  if (chosen !== undefined) return [Number(chosen)];
  const count = SCHEDULES[store] * (IS_SOAK ? SOAK : 1);
  const soak = Number(process.env['BOLIDE_SEED'] ?? Math.floor(Date.now() / 1_000) % SEEDS_PER_SOAK);
  const first = IS_SOAK ? soak * SEEDS_PER_SOAK : 1;
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  return IS_SOAK ? seeds : [...seeds, ...TELLING[store]];
}

function groupsOf(seeds: readonly number[]): readonly (readonly number[])[] {
  const count = Math.ceil(seeds.length / GROUP);
  return Array.from({ length: count }, (_, index) => seeds.slice(index * GROUP, (index + 1) * GROUP));
}

describe('The run engine', () => {
  let bundle: EngineBundle;

  before(async () => {
    bundle = await bundledEngine();
  });

  for (const store of ['memory', 'documents'] as const)
    for (const seeds of groupsOf(seedsFor(store)))
      it(`keeps its promises in the schedules ${seeds[0]!} to ${seeds.at(-1)!} on ${store}`, async () => {
        for (const seed of seeds) {
          const plan = planSchedule(seed, store);
          const { problems } = await simulate(plan, bundle);
          if (problems.length > 0) expect.fail(await describeFailure(plan, problems, bundle));
        }
      });
});

describe('A schedule', () => {
  it('gives the same trail whenever and after whatever it runs', async () => {
    const bundle = await bundledEngine();
    const plans = [planSchedule(1, 'memory'), planSchedule(2, 'documents'), planSchedule(3, 'memory')];
    const trails = async (order: readonly Plan[]): Promise<ReadonlyMap<Plan, string>> => {
      const byPlan = new Map<Plan, string>();
      for (const plan of order) byPlan.set(plan, (await simulate(plan, bundle)).trail.join('\n'));
      return byPlan;
    };
    const first = await trails(plans);
    const second = await trails(plans.toReversed());
    for (const plan of plans) expect(second.get(plan)).to.equal(first.get(plan));
    expect(first.get(plans[0]!)).to.contain('emits run:completed');
  });

  it('is shrunk to what it fails with', async () => {
    const plan = planSchedule(11);
    const needed = plan.faults[1];
    const shrunk = await shrinkPlan(plan, async ({ faults }) => faults.includes(needed!));
    expect(shrunk).to.deep.include({ faults: [needed], hasSlowTools: false });
    expect([shrunk.runs.length, shrunk.reviewers.length]).to.deep.equal([1, 1]);
  });
});
