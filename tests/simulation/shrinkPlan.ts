/** Makes a failing schedule smaller: leaves out what it fails without. */
import type { Plan } from './Plan';

/** @param fails whether the schedule still breaks a promise */
export async function shrinkPlan(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  return shrink(plan, smallerPlans, fails);
}

/**
 * @param smallerThan each with one part less
 * @param fails whether it still does
 */
export async function shrink<P>(
  plan: P,
  smallerThan: (plan: P) => Iterable<P>,
  fails: (plan: P) => Promise<boolean> | boolean,
): Promise<P> {
  let smallest = plan;
  for (;;) {
    const smaller = await firstFailing(smallerThan(smallest), fails);
    if (smaller === undefined) return smallest;
    smallest = smaller;
  }
}

async function firstFailing<P>(
  plans: Iterable<P>,
  fails: (plan: P) => Promise<boolean> | boolean,
): Promise<P | undefined> {
  for (const plan of plans) if (await fails(plan)) return plan;
  return undefined;
}

/** Each with one part less, those that lack most first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  const { runs, faults, reviewers, messages } = plan;
  if (runs.length > 1)
    for (const run of runs) {
      const isAboutRun = (fault: Plan['faults'][number]): boolean => fault.kind === 'cancel' && fault.run === run.id;
      yield {
        ...plan,
        runs: without(runs, run),
        faults: faults.filter((fault) => !isAboutRun(fault)),
        messages: messages.filter((message) => message.run !== run.id),
      };
    }
  for (const fault of faults) yield { ...plan, faults: without(faults, fault) };
  for (const message of messages) yield { ...plan, messages: without(messages, message) };
  if (reviewers.length > 1)
    for (const reviewer of reviewers) yield { ...plan, reviewers: without(reviewers, reviewer) };
  if (plan.hasSlowTools) yield { ...plan, hasSlowTools: false };
}

export function without<T>(items: readonly T[], left: T): readonly T[] {
  return items.filter((item) => item !== left);
}
