/**
 * What OpenAI's APIs are told of their cache of prompts: the key by which requests of one conversation find the cache
 * of the last one and, from GPT-5.6 on, up to where it is written and for how long.
 * https://developers.openai.com/api/docs/guides/prompt-caching, and `PromptCacheOptions` of the SDK.
 */
import type { NormalizedOptions, PromptCache } from '../../../domain/types/LLMTypes';
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, VendorQuirks } from '../../../domain/types/VendorTypes';

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

export interface MarkedInput {
  readonly input: readonly InputItem[];
  /** Fields of the request. */
  readonly fields: JsonObject;
  readonly losses: readonly Loss[];
}

/** A mark of a content part. */
export const BREAKPOINT = Object.freeze({ prompt_cache_breakpoint: Object.freeze({ mode: 'explicit' }) });

/**
 * Marks the items at the caller's breakpoints. The cache is then written up to these only, as the caller has asked.
 * @param mark returns undefined for an item that the wire cannot mark
 */
export function withExplicitBreakpoints(
  options: NormalizedOptions,
  { promptCacheBreakpoints }: Pick<VendorQuirks, 'promptCacheBreakpoints'>,
  mark: (item: InputItem) => InputItem | undefined,
): MarkedInput {
  const { promptCache, input, model } = options;
  const { breakpoints = [], ttl } = typeof promptCache === 'object' ? promptCache : {};
  if (breakpoints.length === 0 && ttl === undefined) return { input, fields: {}, losses: [] };
  if (promptCacheBreakpoints === undefined || !new RegExp(promptCacheBreakpoints, 'i').test(model))
    return { input, fields: {}, losses: lostBreakpoints(options) };
  const losses: Loss[] = [];
  const marked = new Map<number, InputItem>();
  for (const [at, index] of breakpoints.entries()) {
    const item = input[index];
    if (item === undefined) continue;
    const found = mark(item);
    if (found === undefined)
      losses.push({
        path: `promptCache.breakpoints[${at}]`,
        what: 'breakpoint',
        reason: `Content of "input[${index}]" cannot be marked: it must be a message that is not the assistant's.`,
      });
    else marked.set(index, found);
  }
  const cache = { ...(marked.size > 0 ? { mode: 'explicit' } : {}), ...lifetimeOf(ttl) };
  return {
    input: marked.size === 0 ? input : input.map((item, index) => marked.get(index) ?? item),
    fields: Object.keys(cache).length === 0 ? {} : { prompt_cache_options: cache },
    losses,
  };
}

/** 30 minutes are the default. */
function lifetimeOf(ttl: PromptCache['ttl']): JsonObject {
  return ttl === '1h' || ttl === '12h' ? { ttl: '12h' } : {};
}
