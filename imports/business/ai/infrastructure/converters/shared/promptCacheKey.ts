/** The key by which requests of one conversation find the cache of the last one, for OpenAI's APIs. */
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { Loss, VendorQuirks } from '../../../domain/types/VendorTypes';

/** Longer keys are rejected. */
const MAX_KEY = 64;

/** @returns undefined if there is none, or the API has none */
export function promptCacheKey(
  { promptCache }: NormalizedOptions,
  { promptCache: way }: Pick<VendorQuirks, 'promptCache'>,
): string | undefined {
  if (promptCache === undefined || promptCache === false || promptCache === 'auto' || way !== 'key') return undefined;
  // The key only leads to a cache, whose hits are decided by the prompt itself, so two may share their end.
  return promptCache.key?.slice(-MAX_KEY);
}

/** The places that the caller has named are lost on an API that has no marks. */
export function lostBreakpoints({ promptCache }: NormalizedOptions): readonly Loss[] {
  const isAsked = typeof promptCache === 'object' && (promptCache.breakpoints?.length ?? 0) > 0;
  if (!isAsked) return [];
  return [{ path: 'promptCache.breakpoints', what: 'breakpoints', reason: 'The API itself decides what it caches.' }];
}
