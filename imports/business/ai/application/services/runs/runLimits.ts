/** A run's limits: their defaults, and the check before each model call. A call that would exceed one is not made. */
import { costOf } from '../../../domain/entities/CallCost';
import { NO_USAGE } from '../../../domain/entities/Response';
import { BudgetError, LLMInvalidRequestError, MaxIterationsError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ModelPrice } from '../../../domain/types/ModelPrice';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import type { Budget, RunLimits } from '../../../domain/types/RunLimits';
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
  return omitUndefined({ ...limits, budget });
}

export interface NextCall {
  readonly model: string;
  /** Whether it only delivers late results. */
  readonly isDelivery: boolean;
  /** What it sends. Called only if there is a budget. */
  readonly history: () => readonly Item[];
  /** Called only if the budget limits money. */
  readonly priceOf: () => ModelCapabilities['price'];
  /** What the runs below this one have spent of its budget. */
  readonly below: Required<Budget> | undefined;
}

/** @throws MaxIterationsError, BudgetError */
export function assertWithinLimits(
  { iterations, deliveries, bill: { totals } }: Pick<LiveRun, 'iterations' | 'deliveries' | 'bill'>,
  { maxIterations, budget }: RunLimits,
  { model, isDelivery, history, priceOf, below }: NextCall,
): void {
  const maxDeliveries = maxIterations * DELIVERIES_PER_ITERATION;
  if (isDelivery && deliveries >= maxDeliveries)
    throw new MaxIterationsError(
      `The run reached its limit of ${maxDeliveries} model calls that only deliver late results.`,
    );
  if (!isDelivery && iterations - deliveries >= maxIterations)
    throw new MaxIterationsError(`The run reached its limit of ${maxIterations} model calls without an answer.`);
  if (budget === undefined) return;
  if (budget.calls !== undefined && iterations + (below?.calls ?? 0) >= budget.calls)
    throw new BudgetError(`The budget of ${budget.calls} model calls is spent.`);
  const next = estimateTokens(history());
  if (budget.tokens !== undefined && totals.usage.total_tokens + (below?.tokens ?? 0) + next > budget.tokens)
    throw new BudgetError(`The next call would exceed the budget of ${budget.tokens} tokens.`);
  if (budget.money === undefined) return;
  const price = priceOf();
  if (price === undefined)
    throw new BudgetError(`The price of the model "${model}" is unknown, so a budget of money cannot be enforced.`);
  if (spentOf(totals, price) + (below?.money ?? 0) + costOf({ ...NO_USAGE, input_tokens: next }, price) > budget.money)
    throw new BudgetError(`The next call would exceed the budget of $${budget.money}.`);
}

/** Calls whose cost is unknown count at the requested model's price. */
function spentOf({ cost = 0, unpriced, usage }: RunTotals, { longPrompt: _, ...standard }: ModelPrice): number {
  return unpriced === undefined ? cost : Math.max(cost, costOf(usage, standard));
}
