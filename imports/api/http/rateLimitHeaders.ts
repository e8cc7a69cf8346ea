/**
 * The headers that tell clients what is left of the rate limits of their API token.
 * https://platform.openai.com/docs/guides/rate-limits, "Rate limits in headers";
 * https://platform.claude.com/docs/en/api/rate-limits, "Response headers"
 */
import type { RateLimitState } from '../../business/ai/domain/types/ApiTokenLimits';
import type { ApiName } from './errorResponse';

/** Other APIs than Anthropic's have the headers of OpenAI's. */
export function rateLimitHeaders(api: ApiName, state: RateLimitState): Readonly<Record<string, string>> {
  const isAnthropic = api === 'anthropic_messages';
  const reset = isAnthropic
    ? new Date(state.resetsAt).toISOString().replace(/\.\d+Z$/, 'Z')
    : `${Math.ceil(state.resetsInMs / 1_000)}s`;
  const nameOf = (what: string, fact: string): string =>
    isAnthropic ? `anthropic-ratelimit-${what}-${fact}` : `x-ratelimit-${fact}-${what}`;
  const headers: Record<string, string> = {};
  for (const what of ['requests', 'tokens'] as const) {
    const left = state[what];
    if (left === undefined) continue;
    headers[nameOf(what, 'limit')] = String(left.limit);
    headers[nameOf(what, 'remaining')] = String(left.remaining);
    headers[nameOf(what, 'reset')] = reset;
  }
  return headers;
}
