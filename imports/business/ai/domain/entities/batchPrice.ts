/**
 * The price of requests in a vendor's batch: half of the list price. Google and Groq do not halve what they read from
 * their prompt caches once more.
 *
 * https://developers.openai.com/api/docs/guides/batch,
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch,
 * https://platform.claude.com/docs/en/build-with-claude/batch-processing,
 * https://ai.google.dev/gemini-api/docs/batch-api, https://console.groq.com/docs/batch (looked up on 2026-11-26)
 */
import { omitUndefined } from '../util/omitUndefined';
import type { ModelPrice, TokenPrices } from '../types/ModelPrice';
import type { VendorName } from '../types/VendorTypes';

interface BatchDiscount {
  /** The share of the list price that is charged. */
  readonly factor: number;
  /** Whether it applies to tokens read from the prompt cache, too. */
  readonly onCached: boolean;
}

export const BATCH_DISCOUNTS: { readonly [V in VendorName]?: BatchDiscount } = {
  openai: { factor: 0.5, onCached: true },
  azure_openai: { factor: 0.5, onCached: true },
  anthropic: { factor: 0.5, onCached: true },
  google: { factor: 0.5, onCached: false },
  groq: { factor: 0.5, onCached: false },
};

/** @returns the same price for a vendor without a discount */
export function batchPrice(vendor: string, price: ModelPrice): ModelPrice {
  // Boundary: providers from outside name vendors of their own.
  const discount = BATCH_DISCOUNTS[vendor as VendorName];
  if (discount === undefined) return price;
  const { longPrompt } = price;
  return {
    ...price,
    ...discounted(price, discount),
    ...omitUndefined({ longPrompt: longPrompt && { ...longPrompt, ...discounted(longPrompt, discount) } }),
  };
}

function discounted(price: TokenPrices, { factor, onCached }: BatchDiscount): TokenPrices {
  const { input, output, cached, cacheWrite, cacheWriteHour } = price;
  return omitUndefined({
    input: input * factor,
    output: output * factor,
    // Never more than what is not cached.
    cached: cached === undefined ? undefined : onCached ? cached * factor : Math.min(cached, input * factor),
    cacheWrite: cacheWrite === undefined ? undefined : cacheWrite * factor,
    cacheWriteHour: cacheWriteHour === undefined ? undefined : cacheWriteHour * factor,
  });
}
