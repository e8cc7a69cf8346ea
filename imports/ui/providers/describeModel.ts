/** A model's context window and price, in a few words. */
import type { ModelInfo } from '../../business/ai/domain/types/ProviderViews';

/** "1.0M context · $2 in, $10 out per 1M tokens" */
export function describeModel({ contextWindow, price }: ModelInfo): string {
  const context = contextWindow === undefined ? 'context unknown' : `${formatTokens(contextWindow)} context`;
  const cost = price === undefined ? 'price unknown' : `$${price.input} in, $${price.output} out per 1M tokens`;
  return `${context} · ${cost}`;
}

function formatTokens(tokens: number): string {
  if (tokens >= 999_500) return `${(tokens / 1_000_000).toFixed(1)}M`;
  return `${Math.round(tokens / 1_000)}k`;
}
