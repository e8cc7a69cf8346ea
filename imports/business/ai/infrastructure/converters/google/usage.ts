/** Token counts of the Gemini wire, in both directions. https://ai.google.dev/api/generate-content#UsageMetadata */
import { NO_USAGE, positiveCounts, serverToolUse } from '../../../domain/entities/Response';
import { fieldsOf, isList, isObject, isObjectList } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { usageOfCounts } from '../shared/usageOfCounts';
import type { UsageFields } from '../shared/usageOfCounts';

const FIELDS: UsageFields = {
  prompt: 'promptTokenCount',
  serverTools: 'toolUsePromptTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
  cached: 'cachedContentTokenCount',
  total: 'totalTokenCount',
  promptByModality: 'promptTokensDetails',
  cachedByModality: 'cacheTokensDetails',
  outputByModality: 'candidatesTokensDetails',
  count: 'tokenCount',
};

export function usageOf(metadata: unknown, warnings: string[]): Usage {
  if (!isObject(metadata)) {
    warnings.push('The response has no usageMetadata, so all token counts are zero.');
    return NO_USAGE;
  }
  return usageOfCounts(metadata, FIELDS);
}

/**
 * Adds what the first candidate says of Google's own tools. Each query of a search counts. What searches find is not
 * charged as input, unlike what other tools do: https://ai.google.dev/gemini-api/docs/pricing,
 * https://ai.google.dev/gemini-api/docs/google-search
 */
export function withGrounding(usage: Usage, candidate: unknown, metadata: unknown): Usage {
  const { groundingMetadata, urlContextMetadata, content } = fieldsOf(candidate);
  const { webSearchQueries, imageSearchQueries, groundingChunks } = fieldsOf(groundingMetadata);
  const searches = queriesIn(webSearchQueries) + queriesIn(imageSearchQueries);
  const hasMaps = isObjectList(groundingChunks) && groundingChunks.some(({ maps }) => isObject(maps));
  if (searches === 0 && !hasMaps) return usage;
  const { parts } = fieldsOf(content);
  const runsCode = isObjectList(parts) && parts.some(({ executableCode }) => isObject(executableCode));
  const isFree = searches > 0 && !isObject(urlContextMetadata) && !runsCode;
  return {
    ...usage,
    input_tokens_details: {
      ...usage.input_tokens_details,
      ...positiveCounts({ free_tokens: isFree ? fieldsOf(metadata).toolUsePromptTokenCount : 0 }),
    },
    ...serverToolUse({ google_search: searches, google_maps: hasMaps ? 1 : 0 }),
  };
}

/** Adds what was stored as a cached content for the request. https://ai.google.dev/gemini-api/docs/caching */
export function withStorage(usage: Usage, stored_token_hours = 0): Usage {
  if (stored_token_hours === 0) return usage;
  return { ...usage, input_tokens_details: { ...usage.input_tokens_details, stored_token_hours } };
}

function queriesIn(list: unknown): number {
  return isList(list) ? list.filter((query) => typeof query === 'string' && query.trim() !== '').length : 0;
}

export function toUsageMetadata(usage: Usage): JsonObject {
  const thoughts = usage.output_tokens_details.reasoning_tokens;
  const cached = usage.input_tokens_details.cached_tokens;
  return {
    promptTokenCount: usage.input_tokens,
    candidatesTokenCount: Math.max(0, usage.output_tokens - thoughts),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    totalTokenCount: usage.total_tokens,
  };
}
