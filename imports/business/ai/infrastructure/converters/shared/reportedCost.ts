/**
 * The cost that some APIs report with a response's usage: xAI in ticks, of which 10,000,000,000 are a dollar
 * (https://docs.x.ai/docs/guides/responses-api), OpenRouter and others in dollars
 * (https://openrouter.ai/docs/use-cases/usage-accounting), Perplexity by its parts
 * (https://docs.perplexity.ai/api-reference/chat-completions-post).
 */
import type { CallCost } from '../../../domain/types/ModelPrice';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { fieldsOf } from '../../../domain/util/json';

const TICKS_PER_DOLLAR = 10_000_000_000;

export function reportedCost(usage: JsonObject): Pick<CallCost, 'cost'> {
  const { cost_in_usd_ticks: ticks } = usage;
  if (isAmount(ticks)) return { cost: ticks / TICKS_PER_DOLLAR };
  const cost = fieldsOf(usage.cost).total_cost ?? usage.cost;
  return isAmount(cost) ? { cost } : {};
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
