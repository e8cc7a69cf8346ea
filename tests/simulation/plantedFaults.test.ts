/** Whether the simulation can fail: it finds each of these mistakes. In the soak only. */
import { expect } from 'chai';
import { describeInSoak } from '../support/soak';
import { changedEngine } from './EngineBundle';
import { PLANTED_FAULTS } from './plantedFaults';
import { planSchedule } from './planSchedule';
import { simulate } from './simulate';

/** Schedules on each store, within which a mistake must be found. */
const SCHEDULES = 1_000;

describeInSoak('The simulation finds an engine that', function () {
  this.timeout(0);
  for (const fault of PLANTED_FAULTS)
    it(fault.title, async () => {
      const bundle = await changedEngine([fault]);
      for (let seed = 1; seed <= SCHEDULES; seed += 1)
        for (const store of ['memory', 'documents'] as const) {
          const { problems } = await simulate(planSchedule(seed, store), bundle);
          if (problems.length === 0) continue;
          console.log(`      seed ${seed} on ${store}: ${problems[0]!}`);
          return;
        }
      expect.fail(`It was not found in ${SCHEDULES} schedules on each store.`);
    });
});
