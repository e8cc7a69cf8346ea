/** Runs a schedule and checks what must hold of it. */
import type { EngineBundle } from './EngineBundle';
import { checkSimulation } from './checkSimulation';
import type { Plan } from './Plan';
import { Simulation } from './Simulation';

export interface SimulationResult {
  /** A line per broken promise. */
  readonly problems: readonly string[];
  readonly trail: readonly string[];
  readonly events: number;
  /** Milliseconds. */
  readonly virtualTime: number;
}

export async function simulate(plan: Plan, bundle: EngineBundle): Promise<SimulationResult> {
  const simulation = new Simulation(plan, bundle);
  const stray = catchStrayErrors();
  try {
    const isOver = await simulation.run();
    const problems = [...stray.errors.map((error) => `An error was not handled: ${String(error)}`)];
    problems.push(...(await checkSimulation(simulation, isOver)));
    const { trail, time } = simulation;
    return { problems, trail, events: time.events, virtualTime: time.now };
  } finally {
    stray.stop();
  }
}

/** What a simulated process throws into the void belongs to its schedule, and not to the test runner. */
function catchStrayErrors(): {
  readonly errors: readonly unknown[];
  stop(): void;
} {
  const errors: unknown[] = [];
  const names = ['unhandledRejection', 'uncaughtException'] as const;
  const before = names.map((name) => process.rawListeners(name));
  const onError = (error: unknown): void => void errors.push(error);
  for (const name of names) process.removeAllListeners(name).on(name, onError);
  return {
    errors,
    stop: () =>
      names.forEach((name, index) => {
        process.removeListener(name, onError);
        // Restores the listeners that were there before.
        for (const listener of before[index]!) process.on(name, listener as () => void);
      }),
  };
}
