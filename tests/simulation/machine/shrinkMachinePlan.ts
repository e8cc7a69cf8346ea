/** Makes a failing schedule of the machine smaller: leaves out what it fails without. */
import { shrink, without } from '../shrinkPlan';
import type { MachinePlan } from './MachinePlan';
import { PLENTY } from './planMachineSchedule';

/** @param fails whether the schedule still breaks a promise */
export async function shrinkMachinePlan(
  plan: MachinePlan,
  fails: (plan: MachinePlan) => boolean,
): Promise<MachinePlan> {
  return shrink(plan, smallerPlans, fails);
}

/** Each with one part less, those that lack most first. */
function* smallerPlans(plan: MachinePlan): Generator<MachinePlan> {
  const { turns, faults } = plan;
  for (const turn of turns) yield { ...plan, turns: without(turns, turn) };
  for (const fault of faults) yield { ...plan, faults: without(faults, fault) };
  for (const message of plan.messages) yield { ...plan, messages: without(plan.messages, message) };
  for (const message of plan.messages)
    if (message.change !== undefined) {
      const { change: _, ...unchanged } = message;
      yield { ...plan, messages: plan.messages.map((each) => (each === message ? unchanged : each)) };
    }
  for (const turn of turns)
    if (turn.kind === 'calls' && turn.calls.length > 1)
      for (const call of turn.calls) {
        const smaller = { ...turn, calls: without(turn.calls, call) };
        yield { ...plan, turns: turns.map((each) => (each === turn ? smaller : each)) };
      }
  if (plan.processes > 1) yield { ...plan, processes: plan.processes - 1 };
  if (plan.slow.length > 0) yield { ...plan, slow: plan.slow.slice(1) };
  if (plan.streams) yield { ...plan, streams: false };
  if (plan.limits !== PLENTY) yield { ...plan, limits: PLENTY };
  if (plan.rejects > 0) yield { ...plan, rejects: 0 };
}
