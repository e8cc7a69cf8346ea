/** Token counts of Google's APIs, whose fields differ by name only. */
import { positiveCounts } from '../../../domain/entities/Response';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { countsByModality } from './countsByModality';

/** The names of an API's fields. */
export interface UsageFields {
  /** With cached tokens, but neither what server tools read nor thoughts. */
  readonly prompt: string;
  readonly serverTools: string;
  /** Without thoughts. */
  readonly output: string;
  readonly thoughts: string;
  readonly cached: string;
  readonly total: string;
  /** The lists of counts by modality, and the count of each of their entries. */
  readonly promptByModality: string;
  readonly cachedByModality: string;
  readonly outputByModality: string;
  readonly count: 'tokenCount' | 'tokens';
}

export function usageOfCounts(counts: JsonObject, fields: UsageFields): Usage {
  const count = (field: string): number => {
    const value = Number(counts[field] ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const reasoning = count(fields.thoughts);
  const output = count(fields.output) + reasoning;
  // Gemini leaves the count of a prompt with a file's URL out, of which only the total tells.
  const input =
    counts[fields.prompt] === undefined
      ? Math.max(count(fields.serverTools), count(fields.total) - output)
      : count(fields.prompt) + count(fields.serverTools);
  const prompt = countsByModality(counts[fields.promptByModality], fields.count);
  const cached = countsByModality(counts[fields.cachedByModality], fields.count);
  const generated = countsByModality(counts[fields.outputByModality], fields.count);
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: {
      cached_tokens: count(fields.cached),
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
  };
}
