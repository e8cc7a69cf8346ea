/** Computes the cost of a call from its token usage and its model's list price. */
import type { CallCost, ModelPrice } from '../types/ModelPrice';
import type { Usage } from '../types/ResponsesAPITypes';

export type PricedUsage = Pick<Usage, 'input_tokens' | 'output_tokens' | 'input_tokens_details'>;

/** The names that vendors have for what is billed at list prices, in lower case. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(['', 'auto', 'default', 'standard', 'standard_only', 'on_demand']);

/** @returns US dollars for the usage of one call; not for sums, whose length says nothing about each prompt's */
export function costOf(usage: PricedUsage, { longPrompt, ...standard }: ModelPrice): number {
  const { cached_tokens, cache_write_tokens, cache_write_1h_tokens = 0 } = usage.input_tokens_details;
  const prices = longPrompt !== undefined && usage.input_tokens > longPrompt.above ? longPrompt : standard;
  const { input, output, cached = input, cacheWrite = input, cacheWriteHour = cacheWrite } = prices;
  const uncached = Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens);
  const dollarsPerMillion =
    uncached * input +
    cached_tokens * cached +
    (cache_write_tokens - cache_write_1h_tokens) * cacheWrite +
    cache_write_1h_tokens * cacheWriteHour +
    usage.output_tokens * output;
  return dollarsPerMillion / 1_000_000;
}

/**
 * @param model for the reason
 * @param serviceTier as the response names it
 */
export function priceUsage(
  usage: PricedUsage,
  price: ModelPrice | undefined,
  model: string,
  serviceTier = 'default',
): CallCost {
  if (price === undefined) return { unpriced: `no price for model "${model}"` };
  // Every prompt has tokens.
  if (usage.input_tokens === 0 && usage.output_tokens === 0) return { unpriced: 'usage not reported' };
  const factor = STANDARD_TIERS.has(serviceTier.toLowerCase()) ? 1 : price.serviceTiers?.[serviceTier];
  if (factor === undefined) return { unpriced: `no price for service tier "${serviceTier}" of model "${model}"` };
  return { cost: costOf(usage, price) * factor };
}
