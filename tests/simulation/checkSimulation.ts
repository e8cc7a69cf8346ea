/** What must hold after a schedule. */
import { isFinished } from '../../imports/business/ai/domain/entities/Run';
import { checkRun } from './checkRun';
import type { Simulation } from './Simulation';

/** @param isOver whether every run has ended in time */
export async function checkSimulation(
  { plan, seen, store, time, processes }: Simulation,
  isOver: boolean,
): Promise<readonly string[]> {
  const problems = [...seen.problems, ...time.errors.map((error) => `An event threw ${String(error)}`)];
  for (const { id } of plan.runs) {
    const stored = await store.load(id);
    if (stored === undefined) problems.push(`${id} was ${seen.started.has(id) ? 'lost' : 'never started'}`);
    else if (isFinished(stored.run.state)) problems.push(...checkRun(plan, seen, stored));
    else {
      const { state, owner, parked, takeovers } = stored.run;
      const calls = stored.calls.map((call) => `${call.id} ${call.state}`).join(', ');
      const ownerName = processes.find((process) => process.program.ownerId === owner)?.name ?? owner;
      problems.push(
        `${id} has not ended: it is ${state} and ${ownerName}'s after ${takeovers} takeovers, ${parked?.reason ?? 'not parked'}; ${calls}`,
      );
    }
  }
  if (!isOver) return problems;
  for (const process of processes)
    if (!process.isDead && process.program.size > 0)
      problems.push(`${process.name} still holds ${process.program.size} runs`);
  for (const { id, executionId } of await store.truth.commands(100))
    problems.push(`the command ${id} is left, although ${executionId} has ended`);
  return problems;
}
