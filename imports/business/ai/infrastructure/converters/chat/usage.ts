/**
 * Converts token counts between the chat wire and the domain model.
 * https://platform.openai.com/docs/api-reference/chat/object#chat-object-usage
 */
import { positiveCounts, serverToolUse, tokenCount } from '../../../domain/entities/Response';
import { fieldsOf, isObjectList } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, VendorQuirks } from '../../../domain/types/VendorTypes';

export function fromChatUsage(usage: JsonObject, quirks: VendorQuirks): Usage {
  const promptDetails = fieldsOf(usage.prompt_tokens_details);
  const completionDetails = fieldsOf(usage.completion_tokens_details);
  const input_tokens = tokenCount(usage.prompt_tokens);
  const reasoning_tokens = tokenCount(completionDetails.reasoning_tokens);
  const completion_tokens = tokenCount(usage.completion_tokens);
  // The total reveals whether `completion_tokens` of this response includes the reasoning tokens.
  const excludesReasoning =
    quirks.completionTokensExcludeReasoning && tokenCount(usage.total_tokens) !== input_tokens + completion_tokens;
  const output_tokens = excludesReasoning ? completion_tokens + reasoning_tokens : completion_tokens;
  return {
    input_tokens,
    output_tokens,
    total_tokens: tokenCount(usage.total_tokens) || input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: tokenCount(promptDetails.cached_tokens ?? cacheHits(usage)),
      // The second name is Model Studio's: https://www.alibabacloud.com/help/en/model-studio/context-cache
      cache_write_tokens: tokenCount(promptDetails.cache_write_tokens ?? promptDetails.cache_creation_input_tokens),
      ...positiveCounts({ audio_tokens: promptDetails.audio_tokens, image_tokens: promptDetails.image_tokens }),
    },
    output_tokens_details: { reasoning_tokens, ...positiveCounts({ audio_tokens: completionDetails.audio_tokens }) },
  };
}

/**
 * Finds cache hits that are reported outside the details: by DeepSeek (https://api-docs.deepseek.com/guides/kv_cache),
 * Moonshot (https://platform.moonshot.ai/docs/api/chat), and for Mistral's older models.
 */
function cacheHits({ prompt_cache_hit_tokens, cached_tokens, num_cached_tokens }: JsonObject): unknown {
  return prompt_cache_hit_tokens ?? cached_tokens ?? num_cached_tokens;
}

/** Adds the tools that Groq ran, by their names: https://console.groq.com/docs/tool-use/built-in-tools */
export function withExecutedTools(usage: Usage, { executed_tools }: JsonObject): Usage {
  if (!isObjectList(executed_tools) || executed_tools.length === 0) return usage;
  const uses: Record<string, number> = {};
  for (const { name, type } of executed_tools) {
    // Databases don't take every name of a field.
    const tool = String(name ?? type).replaceAll('.', '_');
    uses[tool] = (uses[tool] ?? 0) + 1;
  }
  return { ...usage, ...serverToolUse(uses) };
}

export function toChatUsage(usage: Usage): JsonObject {
  const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens, ...(cache_write_tokens > 0 ? { cache_write_tokens } : {}) },
    completion_tokens_details: { reasoning_tokens: usage.output_tokens_details.reasoning_tokens },
  };
}
