/** Runs a schedule of the machine and checks what must hold of it. */
import { checkEnd } from './checkEnd';
import type { MachinePlan } from './MachinePlan';
import type { Machine } from './Machine';
import { World } from './World';

export interface MachineResult {
  /** The first broken promise. */
  readonly problem: string | undefined;
  readonly steps: number;
  /** A line per event, if it is kept. */
  readonly trail: readonly string[];
}

/** Schedules of which the events are kept, and given to the machine again. */
const REPLAYED = 50;

export function simulateMachine(plan: MachinePlan, machine: Machine, hasTrail = false): MachineResult {
  const world = new World(plan, machine, { hasTrail, keepsEvents: plan.seed % REPLAYED === 0 });
  let problem: string | undefined;
  try {
    world.run();
    checkEnd(world);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
    if (hasTrail && error instanceof Error && error.constructor.name !== 'Violation') problem = error.stack;
  }
  return { problem, steps: world.steps, trail: world.trail ?? [] };
}
