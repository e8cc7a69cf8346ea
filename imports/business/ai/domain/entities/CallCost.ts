/** Computes the cost of a call from its usage and its model's list price. */
import { omitUndefined } from '../util/omitUndefined';
import type { CallCost, ModelPrice, TokenPrices } from '../types/ModelPrice';
import type { Usage } from '../types/ResponsesAPITypes';

export type PricedUsage = Pick<Usage, 'input_tokens' | 'output_tokens' | 'input_tokens_details' | 'server_tool_use'> &
  Partial<Pick<Usage, 'output_tokens_details'>>;

/** What makes the price of a call other than the list price, as its response states it. */
export interface PriceTerms {
  readonly serviceTier?: string | undefined;
  readonly speed?: string | undefined;
  readonly region?: string | undefined;
}

/** What each term is called, where its factors are, and the names of what is billed at list prices, in lower case. */
const TERMS = [
  {
    term: 'serviceTier',
    what: 'service tier',
    factors: 'serviceTiers',
    standard: new Set<string>(['', 'auto', 'default', 'standard', 'standard_only', 'on_demand']),
  },
  { term: 'speed', what: 'speed', factors: 'speeds', standard: new Set<string>(['', 'standard']) },
  // A model that cannot be told where to run has `not_available`.
  { term: 'region', what: 'region', factors: 'regions', standard: new Set<string>(['', 'global', 'not_available']) },
] as const satisfies readonly {
  readonly term: keyof PriceTerms;
  readonly what: string;
  readonly factors: keyof ModelPrice;
  readonly standard: ReadonlySet<string>;
}[];

/**
 * @param factor of the token prices
 * @returns US dollars for the usage of one call; not for sums, whose length says nothing about each prompt's
 */
export function costOf(usage: PricedUsage, price: ModelPrice, factor = 1): number {
  const { longPrompt } = price;
  const prices = longPrompt !== undefined && usage.input_tokens > longPrompt.above ? longPrompt : price;
  return tokensAt(prices, usage) * factor + feesOf(usage, price);
}

/**
 * @param model for the reason
 * @param terms as the response states them
 */
export function priceUsage(
  usage: PricedUsage,
  price: ModelPrice | undefined,
  model: string,
  terms: PriceTerms = {},
): CallCost {
  if (price === undefined) return { unpriced: `no price for model "${model}"` };
  // Every prompt has tokens.
  if (usage.input_tokens === 0 && usage.output_tokens === 0) return { unpriced: 'usage not reported' };
  let factor = 1;
  for (const { term, what, factors, standard } of TERMS) {
    const name = terms[term];
    if (name === undefined || standard.has(name.toLowerCase())) continue;
    const found = price[factors]?.[name] ?? price[factors]?.['*'];
    if (found === undefined) return { unpriced: `no price for ${what} "${name}" of model "${model}"` };
    factor *= found;
  }
  const reasons = unpricedParts(usage, price, model);
  const cost = costOf(usage, price, factor);
  return reasons.length === 0 ? { cost } : { cost, unpriced: reasons.join('; ') };
}

/** Adds what is known, and lists every reason once. */
export function addCosts(costs: readonly CallCost[]): CallCost {
  const [only, another] = costs;
  if (only !== undefined && another === undefined) return only;
  const known = costs.flatMap(({ cost }) => cost ?? []);
  const reasons = new Set(costs.flatMap(({ unpriced }) => unpriced?.split('; ') ?? []));
  return omitUndefined({
    cost: known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost),
    unpriced: reasons.size === 0 ? undefined : [...reasons].join('; '),
  });
}

function tokensAt(prices: TokenPrices, usage: PricedUsage): number {
  const { input, output, cached = input, cacheWrite = input, cacheWriteHour = cacheWrite } = prices;
  const { cached_tokens, cache_write_tokens, cache_write_1h_tokens = 0, free_tokens = 0 } = usage.input_tokens_details;
  const uncached = Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens - free_tokens);
  const dollarsPerMillion =
    uncached * input +
    cached_tokens * cached +
    (cache_write_tokens - cache_write_1h_tokens) * cacheWrite +
    cache_write_1h_tokens * cacheWriteHour +
    (usage.input_tokens_details.stored_token_hours ?? 0) * (prices.cacheStorage ?? 0) +
    usage.output_tokens * output +
    mediaSurcharge(prices, usage);
  return dollarsPerMillion / 1_000_000;
}

/** What audio and images cost more than as many tokens of text, or less. */
function mediaSurcharge(
  prices: TokenPrices,
  { input_tokens_details: inputs, output_tokens_details: outputs }: PricedUsage,
): number {
  const { input, output, cached = input } = prices;
  const { audio_tokens = 0, cached_audio_tokens = 0, image_tokens = 0, cached_image_tokens = 0 } = inputs;
  return (
    (audio_tokens - cached_audio_tokens) * difference(prices.audioInput, input) +
    cached_audio_tokens * difference(prices.audioCached, cached) +
    (image_tokens - cached_image_tokens) * difference(prices.imageInput, input) +
    cached_image_tokens * difference(prices.imageCached, cached) +
    (outputs?.audio_tokens ?? 0) * difference(prices.audioOutput, output) +
    (outputs?.image_tokens ?? 0) * difference(prices.imageOutput, output)
  );
}

function difference(special: number | undefined, usual: number): number {
  return special === undefined ? 0 : special - usual;
}

function feesOf({ server_tool_use }: PricedUsage, { tools }: ModelPrice): number {
  if (server_tool_use === undefined) return 0;
  let dollars = 0;
  for (const [tool, uses] of Object.entries(server_tool_use)) {
    const { perUse = 0, perRequest = 0 } = tools?.[tool] ?? {};
    dollars += uses * perUse + perRequest;
  }
  return dollars;
}

function unpricedParts(
  { input_tokens_details, server_tool_use = {} }: PricedUsage,
  { tools, cacheStorage }: ModelPrice,
  model: string,
): readonly string[] {
  const reasons: string[] = [];
  if (input_tokens_details.stored_token_hours !== undefined && cacheStorage === undefined)
    reasons.push(`no price for stored caches of model "${model}"`);
  if (input_tokens_details.cache_write_12h_tokens !== undefined)
    reasons.push(`no price for cache writes of 12 hours of model "${model}"`);
  for (const tool of Object.keys(server_tool_use)) {
    const { unpriced } = tools?.[tool] ?? { unpriced: '' };
    if (unpriced === undefined) continue;
    reasons.push(`no price for the tool "${tool}" of model "${model}"${unpriced === '' ? '' : `: ${unpriced}`}`);
  }
  return reasons;
}
