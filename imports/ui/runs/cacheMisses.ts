/** Why turns of a run did not read from the vendor's prompt cache what the turn before had sent. */
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { formatDuration } from '../format/format';

/** Shorter prompts are not cached by any vendor. */
const MIN_TOKENS = 1_024;
/** What vendors count in steps, or read without the last message, is no miss. */
const LEAST_SHARE = 0.8;
/** The shortest time for which a vendor keeps a prompt. */
const LIFETIME_MS = 300_000;

/** @param requests of a run @returns the reason by the id of the request */
export function cacheMisses(requests: readonly RequestView[]): ReadonlyMap<string, string> {
  const misses = new Map<string, string>();
  // Not every vendor says what it has cached.
  if (!requests.some(({ usage }) => cachedTokens(usage) > 0)) return misses;
  let before: RequestView | undefined;
  let isCompacted = false;
  for (const request of requests.toSorted((a, b) => a.at - b.at)) {
    // Calls beside the turns summarize the history.
    if (request.iteration === undefined) isCompacted = true;
    if (request.iteration === undefined || request.state !== 'completed' || request.cached === true) continue;
    const reasons = before === undefined || !isMiss(request, before) ? [] : reasonsOf(request, before, isCompacted);
    if (reasons.length > 0) misses.set(request._id, reasons.join(', '));
    before = request;
    isCompacted = false;
  }
  return misses;
}

function isMiss({ usage }: RequestView, { usage: before }: RequestView): boolean {
  if (before.input_tokens < MIN_TOKENS) return false;
  const { cached_tokens } = usage.input_tokens_details;
  return cached_tokens < LEAST_SHARE * Math.min(before.input_tokens, usage.input_tokens);
}

function reasonsOf(request: RequestView, before: RequestView, isCompacted: boolean): readonly string[] {
  const { usage, prompt, model, providerId, at } = request;
  const pause = at - (before.at + before.duration);
  const reasons = [
    ...(model === before.model ? [] : [`another model than ${before.model ?? 'before'}`]),
    ...(providerId === before.providerId ? [] : [`another provider than ${before.providerId ?? 'before'}`]),
    ...(isCompacted || usage.input_tokens < before.usage.input_tokens ? ['the history was compacted'] : []),
    ...(prompt?.tools === before.prompt?.tools ? [] : ['the tools changed']),
    ...(prompt?.instructions === before.prompt?.instructions ? [] : ['the instructions changed']),
    ...(pause > LIFETIME_MS ? [`${formatDuration(pause)} passed, in which a cache may expire`] : []),
  ];
  return reasons.length > 0 ? reasons : ['it begins like the turn before, but the vendor did not find it'];
}

function cachedTokens({ input_tokens_details: details }: RequestView['usage']): number {
  return details.cached_tokens + details.cache_write_tokens;
}
