/** A run's own limits, looked at before each model call: one that would pass them is not made. */
import { costOf } from '../../../domain/entities/Response';
import { BudgetError, MaxIterationsError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { RunLimits } from '../../../domain/types/RunRecords';
import { estimateTokens } from '../routing/estimateUsage';
import type { LiveRun } from './LiveRun';

/**
 * @param priceOf asked only where a budget of money has to be kept
 * @throws MaxIterationsError, BudgetError
 */
export function assertWithinLimits(
  execution: Pick<LiveRun, 'iterations' | 'usage' | 'transcript'>,
  { maxIterations, budget }: RunLimits,
  priceOf: () => ModelCapabilities['price'],
  model: string,
): void {
  const { iterations, usage, transcript } = execution;
  if (iterations >= maxIterations)
    throw new MaxIterationsError(`The run reached its limit of ${maxIterations} model calls without an answer.`);
  if (budget === undefined) return;
  if (budget.calls !== undefined && iterations >= budget.calls)
    throw new BudgetError(`The budget of ${budget.calls} model calls is spent.`);
  const next = estimateTokens(transcript);
  if (budget.tokens !== undefined && usage.total_tokens + next > budget.tokens)
    throw new BudgetError(`The next call would pass the budget of ${budget.tokens} tokens.`);
  if (budget.money === undefined) return;
  const price = priceOf();
  if (price === undefined)
    throw new BudgetError(`No price is known for '${model}', so a budget of money cannot be kept.`);
  if (costOf({ ...usage, input_tokens: usage.input_tokens + next }, price) > budget.money)
    throw new BudgetError(`The next call would pass the budget of $${budget.money}.`);
}
