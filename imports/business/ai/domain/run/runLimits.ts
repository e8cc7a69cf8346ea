/** A run's limits: their defaults, and the check before each model call. A call that would exceed one is not made. */
import { costOf } from '../entities/CallCost';
import { NO_USAGE } from '../entities/Response';
import { BudgetError, LLMInvalidRequestError, MaxIterationsError } from '../errors/LLMErrors';
import type { LLMError } from '../errors/LLMErrors';
import { omitUndefined } from '../util/omitUndefined';
import type { ModelPrice } from '../types/ModelPrice';
import type { Budget, RunLimits } from '../types/RunLimits';
import type { RunTotals } from '../types/RunTotals';
import type { ActiveRun } from './ActiveRun';

export const DEFAULT_LIMITS: RunLimits = {
  maxIterations: 10,
  maxToolErrors: 3,
  maxParallelTools: 8,
  runTimeout: 600_000,
};

/** Guards against tools that never stop to deliver. */
const DELIVERIES_PER_ITERATION = 10;

/**
 * The requested limits, completed by the defaults.
 * @throws LLMInvalidRequestError for a limit that is no positive integer
 */
export function limitsOf(requested: Partial<RunLimits>, defaults: RunLimits): RunLimits {
  const budget = requested.budget ?? defaults.budget;
  const limits = {
    maxIterations: requested.maxIterations ?? defaults.maxIterations,
    maxToolErrors: requested.maxToolErrors ?? defaults.maxToolErrors,
    maxParallelTools: requested.maxParallelTools ?? defaults.maxParallelTools,
    runTimeout: requested.runTimeout ?? defaults.runTimeout,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new LLMInvalidRequestError(`"${name}" must be a positive integer.`, { path: name });
  }
  return omitUndefined({ ...limits, budget });
}

/**
 * How many of the runs that its calls start are at work at a time, also those that wait for people. With a budget, each
 * gets what its siblings have left of it.
 */
export function runsAtOnce({ budget, maxParallelTools }: Pick<RunLimits, 'budget' | 'maxParallelTools'>): number {
  return budget === undefined ? maxParallelTools : 1;
}

/** What a run does that a call has started, and that has not ended: it has not begun, waits for people, or works. */
export type ProgressBelow = 'queued' | 'waiting' | 'working';

/**
 * Whether the runs that its calls have started can go on only after people have decided. One that has no place begins
 * only after another one has ended.
 * @param limits read if it depends on them; undefined if the run does not exist any more
 */
export async function areWaiting(
  below: readonly ProgressBelow[],
  limits: () => Promise<RunLimits | undefined>,
): Promise<boolean> {
  if (below.includes('working')) return false;
  const waiting = below.filter((state) => state === 'waiting').length;
  if (waiting === below.length) return true;
  const found = waiting === 0 ? undefined : await limits();
  return found !== undefined && waiting >= runsAtOnce(found);
}

/** What the next model call would spend, and what the runs below have. Only for runs with a budget. */
export interface Spending {
  /** Tokens of the request, estimated. */
  readonly nextTokens?: number | undefined;
  /** The price of the model. Undefined: it is unknown. */
  readonly price?: ModelPrice | undefined;
  /** What the runs below this one have spent of its budget. */
  readonly below?: Required<Budget> | undefined;
}

/**
 * Returns the error that ends the run in place of the next model call, if that would exceed a limit.
 * @param isDelivery whether it only delivers late results
 */
export function exceededLimit(
  {
    rules: { limits, model },
    iterations,
    deliveries,
    countedFrom,
    totals,
  }: Pick<ActiveRun, 'rules' | 'iterations' | 'deliveries' | 'countedFrom' | 'totals'>,
  isDelivery: boolean,
  { nextTokens = 0, price, below }: Spending,
): LLMError | undefined {
  const { maxIterations, budget } = limits;
  const maxDeliveries = maxIterations * DELIVERIES_PER_ITERATION;
  if (isDelivery && deliveries >= maxDeliveries)
    return new MaxIterationsError(
      `The run reached its limit of ${maxDeliveries} model calls that only deliver late results.`,
    );
  if (!isDelivery && iterations - deliveries - countedFrom >= maxIterations)
    return new MaxIterationsError(`The run reached its limit of ${maxIterations} model calls without an answer.`);
  if (budget === undefined) return undefined;
  if (budget.calls !== undefined && iterations + (below?.calls ?? 0) >= budget.calls)
    return new BudgetError(`The budget of ${budget.calls} model calls is spent.`);
  if (budget.tokens !== undefined && totals.usage.total_tokens + (below?.tokens ?? 0) + nextTokens > budget.tokens)
    return new BudgetError(`The next call would exceed the budget of ${budget.tokens} tokens.`);
  if (budget.money === undefined) return undefined;
  if (price === undefined)
    return new BudgetError(`The price of the model "${model}" is unknown, so a budget of money cannot be enforced.`);
  const next = costOf({ ...NO_USAGE, input_tokens: nextTokens }, price);
  return spentOf(totals, price) + (below?.money ?? 0) + next > budget.money
    ? new BudgetError(`The next call would exceed the budget of $${budget.money}.`)
    : undefined;
}

/** Calls whose cost is unknown count at the requested model's price. */
function spentOf({ cost = 0, unpriced, usage }: RunTotals, { longPrompt: _, ...standard }: ModelPrice): number {
  return unpriced === undefined ? cost : Math.max(cost, costOf(usage, standard));
}
