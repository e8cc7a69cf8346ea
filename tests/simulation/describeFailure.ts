/** What a person reads of a schedule that has broken a promise. */
import { inspect } from 'node:util';
import type { EngineBundle } from './EngineBundle';
import type { Plan } from './Plan';
import { shrinkPlan } from './shrinkPlan';
import { simulate } from './simulate';

/** How many of the last lines of the trail are shown. */
const LINES = 60;

export async function describeFailure(plan: Plan, problems: readonly string[], bundle: EngineBundle): Promise<string> {
  const fails = async (smaller: Plan): Promise<boolean> => (await simulate(smaller, bundle)).problems.length > 0;
  const smallest = await shrinkPlan(plan, fails);
  const again = await simulate(smallest, bundle);
  return [
    `Seed ${plan.seed} with the store "${plan.store}" breaks ${problems.length} promises:`,
    ...problems.map((problem) => `- ${problem}`),
    'What is left of its schedule without the parts that do not matter:',
    inspect(smallest, { depth: null, breakLength: 116 }),
    'breaks:',
    ...again.problems.map((problem) => `- ${problem}`),
    `The last ${LINES} lines of what happens in it:`,
    ...again.trail.slice(-LINES),
    `Only this seed: BOLIDE_SIMULATION_SEED=${plan.seed} npm test -- tests/simulation/engine.test.ts`,
  ].join('\n');
}
