/** A run's limits: their defaults, and the check before each model call. A call that would exceed one is not made. */
import { costOf } from '../../../domain/entities/CallCost';
import { NO_USAGE } from '../../../domain/entities/Response';
import { BudgetError, LLMInvalidRequestError, MaxIterationsError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { ModelPrice } from '../../../domain/types/ModelPrice';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { RunTotals } from '../../../domain/types/RunTotals';
import { estimateTokens } from '../routing/estimateUsage';
import type { LiveRun } from './LiveRun';

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
  return { ...limits, ...(budget === undefined ? {} : { budget }) };
}

/**
 * @param history what the next model call sends; called only if there is a budget
 * @param isDelivery whether the next model call only delivers late results
 * @param priceOf called only if the budget limits money
 * @throws MaxIterationsError, BudgetError
 */
export function assertWithinLimits(
  { iterations, deliveries, bill: { totals } }: Pick<LiveRun, 'iterations' | 'deliveries' | 'bill'>,
  history: () => readonly Item[],
  isDelivery: boolean,
  { maxIterations, budget }: RunLimits,
  priceOf: () => ModelCapabilities['price'],
  model: string,
): void {
  const maxDeliveries = maxIterations * DELIVERIES_PER_ITERATION;
  if (isDelivery && deliveries >= maxDeliveries)
    throw new MaxIterationsError(
      `The run reached its limit of ${maxDeliveries} model calls that only deliver late results.`,
    );
  if (!isDelivery && iterations - deliveries >= maxIterations)
    throw new MaxIterationsError(`The run reached its limit of ${maxIterations} model calls without an answer.`);
  if (budget === undefined) return;
  if (budget.calls !== undefined && iterations >= budget.calls)
    throw new BudgetError(`The budget of ${budget.calls} model calls is spent.`);
  const next = estimateTokens(history());
  if (budget.tokens !== undefined && totals.usage.total_tokens + next > budget.tokens)
    throw new BudgetError(`The next call would exceed the budget of ${budget.tokens} tokens.`);
  if (budget.money === undefined) return;
  const price = priceOf();
  if (price === undefined)
    throw new BudgetError(`The price of the model "${model}" is unknown, so a budget of money cannot be enforced.`);
  if (spentOf(totals, price) + costOf({ ...NO_USAGE, input_tokens: next }, price) > budget.money)
    throw new BudgetError(`The next call would exceed the budget of $${budget.money}.`);
}

/** Calls whose cost is unknown count at the requested model's price. */
function spentOf({ cost = 0, unpriced, usage }: RunTotals, { longPrompt: _, ...standard }: ModelPrice): number {
  return unpriced === undefined ? cost : Math.max(cost, costOf(usage, standard));
}
