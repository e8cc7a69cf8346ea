/** Token counts of the Interactions wire. https://ai.google.dev/api/interactions-api#Resource:Usage */
import { NO_USAGE, positiveCounts, serverToolUse } from '../../../domain/entities/Response';
import { isObject, isObjectList } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { usageOfCounts } from '../shared/usageOfCounts';
import type { UsageFields } from '../shared/usageOfCounts';

const FIELDS: UsageFields = {
  prompt: 'total_input_tokens',
  serverTools: 'total_tool_use_tokens',
  output: 'total_output_tokens',
  thoughts: 'total_thought_tokens',
  cached: 'total_cached_tokens',
  total: 'total_tokens',
  promptByModality: 'input_tokens_by_modality',
  cachedByModality: 'cached_tokens_by_modality',
  outputByModality: 'output_tokens_by_modality',
  count: 'tokens',
};

export function usageOf(usage: unknown, warnings: string[]): Usage {
  if (!isObject(usage)) {
    warnings.push('The response has no usage, so all token counts are zero.');
    return NO_USAGE;
  }
  return { ...usageOfCounts(usage, FIELDS), ...serverToolUse(groundingOf(usage.grounding_tool_count)) };
}

/** By the types of the tools: `google_search`, `google_maps`. What is retrieved from files costs its tokens only. */
function groundingOf(counts: unknown): Readonly<Record<string, unknown>> {
  if (!isObjectList(counts)) return {};
  const entries = counts.map(({ type, count }) => [String(type), count] as const);
  return Object.fromEntries(entries.filter(([type]) => type !== 'retrieval'));
}

/** The types of steps whose tools' results are charged as input. */
const CHARGED_STEPS: ReadonlySet<unknown> = new Set(['url_context_call', 'code_execution_call', 'file_search_call']);

/** Marks what Google Search found, which is not charged as input: https://ai.google.dev/gemini-api/docs/pricing */
export function withFreeSearchResults(usage: Usage, steps: readonly JsonObject[], raw: unknown): Usage {
  if (!isObject(raw) || usage.server_tool_use?.google_search === undefined) return usage;
  if (steps.some(({ type }) => CHARGED_STEPS.has(type))) return usage;
  const free = positiveCounts({ free_tokens: raw.total_tool_use_tokens });
  return { ...usage, input_tokens_details: { ...usage.input_tokens_details, ...free } };
}
