/** Token counts of the Interactions wire. https://ai.google.dev/api/interactions-api#Resource:Usage */
import { NO_USAGE, positiveCounts, serverToolUse } from '../../../domain/entities/Response';
import { isObject, isObjectList } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { countsByModality } from '../shared/countsByModality';

/** `total_input_tokens` includes cached tokens, but not those of server tools; `total_output_tokens` no thoughts. */
export function usageOf(usage: unknown, warnings: string[]): Usage {
  if (!isObject(usage)) {
    warnings.push('The response has no usage, so all token counts are zero.');
    return NO_USAGE;
  }
  const count = (field: string): number => {
    const value = Number(usage[field] ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const reasoning = count('total_thought_tokens');
  const input = count('total_input_tokens') + count('total_tool_use_tokens');
  const output = count('total_output_tokens') + reasoning;
  const prompt = countsByModality(usage.input_tokens_by_modality, 'tokens');
  const cached = countsByModality(usage.cached_tokens_by_modality, 'tokens');
  const generated = countsByModality(usage.output_tokens_by_modality, 'tokens');
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: {
      cached_tokens: count('total_cached_tokens'),
      cache_write_tokens: 0,
      ...positiveCounts({
        audio_tokens: prompt.audio,
        cached_audio_tokens: cached.audio,
        image_tokens: prompt.image,
        cached_image_tokens: cached.image,
      }),
    },
    output_tokens_details: {
      reasoning_tokens: reasoning,
      ...positiveCounts({ audio_tokens: generated.audio, image_tokens: generated.image }),
    },
    ...serverToolUse(groundingOf(usage.grounding_tool_count)),
  };
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
