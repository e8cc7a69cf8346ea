/**
 * Which beginning of a request Gemini is to store as a cached content. Only a caller's own breakpoints ask for it:
 * storing has its price, and what Gemini caches by itself costs nothing. https://ai.google.dev/gemini-api/docs/caching
 */
import type { NormalizedOptions, PromptCache } from '../../../../domain/types/LLMTypes';
import type { CachedPrefix, JsonObject, VendorQuirks } from '../../../../domain/types/VendorTypes';

const LIFETIMES = { '5m': 300, '30m': 1_800, '1h': 3_600, '12h': 43_200 } as const satisfies Record<
  NonNullable<PromptCache['ttl']>,
  number
>;

/** @param passthrough the caller's fields, which may name a cached content of its own, or replace the contents */
export function storedBreakpoints(
  { promptCache }: NormalizedOptions,
  { promptCache: way, unsupportedFields }: Pick<VendorQuirks, 'promptCache' | 'unsupportedFields'>,
  passthrough: JsonObject,
): readonly number[] {
  if (typeof promptCache !== 'object' || way !== 'stored') return [];
  if (unsupportedFields.includes('cachedContent') || 'cachedContent' in passthrough || 'contents' in passthrough)
    return [];
  return promptCache.breakpoints ?? [];
}

/** @param lengths how many contents there are up to each breakpoint that has some after it, from short to long */
export function cachedPrefix({ promptCache }: NormalizedOptions, lengths: readonly number[]): CachedPrefix | undefined {
  const [first, ...others] = lengths;
  if (typeof promptCache !== 'object' || first === undefined) return undefined;
  return { ends: [first, ...others], lifetime: LIFETIMES[promptCache.ttl ?? '5m'] };
}
