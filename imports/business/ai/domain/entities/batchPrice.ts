/**
 * The price of requests in a vendor's batch: half of the list price. Google and Groq do not halve what they read from
 * their prompt caches once more.
 *
 * https://developers.openai.com/api/docs/guides/batch,
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch,
 * https://platform.claude.com/docs/en/build-with-claude/batch-processing,
 * https://ai.google.dev/gemini-api/docs/batch-api, https://console.groq.com/docs/batch (looked up on 2026-11-26)
 */
import type { ModelPrice } from '../types/ModelPrice';
import { scaledPrice } from './scaledPrice';
import type { PriceScale } from './scaledPrice';
import type { VendorName } from '../types/VendorTypes';

export const BATCH_DISCOUNTS: { readonly [V in VendorName]?: PriceScale } = {
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
  return discount === undefined ? price : scaledPrice(price, discount);
}
