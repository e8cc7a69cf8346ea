/** What a person reads of a schedule of the machine that has broken a promise. */
import { inspect } from 'node:util';
import type { MachinePlan } from './MachinePlan';
import { shrinkMachinePlan } from './shrinkMachinePlan';
import { simulateMachine } from './simulateMachine';
import type { Machine } from './Machine';

/** How many of the last lines of the trail are shown. */
const LINES = 60;

export async function describeMachineFailure(plan: MachinePlan, problem: string, machine: Machine): Promise<string> {
  const smallest = await shrinkMachinePlan(plan, (smaller) => simulateMachine(smaller, machine).problem !== undefined);
  const again = simulateMachine(smallest, machine, true);
  return [
    `Seed ${plan.seed} breaks a promise: ${problem}`,
    'What is left of its schedule without the parts that do not matter:',
    inspect(smallest, { depth: null, breakLength: 116 }),
    `breaks: ${String(again.problem)}`,
    `The last ${LINES} steps of it:`,
    ...again.trail.slice(-LINES),
    `Only this seed: BOLIDE_SIMULATION_SEED=${plan.seed} npm test -- tests/simulation/machine/machine.test.ts`,
  ].join('\n');
}
