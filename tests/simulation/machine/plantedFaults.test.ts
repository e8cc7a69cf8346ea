/** Whether the simulation of the machine can fail: it finds each of these mistakes. Some of them in `npm test`. */
import { expect } from 'chai';
import { describeInSoak, IS_SOAK } from '../../support/soak';
import { changedMachine, sampledFaults, sampledMachine } from './MachineBundle';
import { planMachineSchedule } from './planMachineSchedule';
import { PLANTED_FAULTS } from './plantedFaults';
import { simulateMachine } from './simulateMachine';
import type { Machine } from './Machine';

/** Schedules within which a mistake must be found: as many as `npm test` runs of the machine as it is. */
const SCHEDULES = 50_000;

/** @returns what was found first */
function findIn(machine: Machine): string {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { problem } = simulateMachine(planMachineSchedule(seed), machine);
    if (problem !== undefined) return `seed ${seed}: ${problem}`;
  }
  return expect.fail(`It was not found in ${SCHEDULES} schedules.`);
}

describeInSoak('The simulation finds a machine that', function () {
  this.timeout(0);
  for (const fault of PLANTED_FAULTS)
    it(fault.title, async () => {
      const found = findIn(await changedMachine(fault));
      console.log(`      ${found}`);
    });
});

if (!IS_SOAK)
  describe('Of the mistakes planted in the machine, the simulation finds one that', () => {
    for (const fault of sampledFaults())
      it(fault.title, async () => {
        findIn(await sampledMachine(fault));
      });
  });
