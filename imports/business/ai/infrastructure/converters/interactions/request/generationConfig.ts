/**
 * Converts options to a `generation_config` and a `response_format`.
 * https://ai.google.dev/api/interactions-api#Resource:GenerationConfig
 */
import type { Interactions } from '@google/genai';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';
import { googleModelFeatures } from '../../google/modelFeatures';
import { sanitizeSchema } from '../../google/request/jsonSchema';

const UNSUPPORTED_OPTIONS = ['top_k', 'presence_penalty', 'frequency_penalty', 'user', 'metadata'] as const;

const LEVEL_OF_EFFORT: Readonly<Record<string, 'minimal' | 'low' | 'medium' | 'high'>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** @param toolChoice undefined for the API's default */
export function toGenerationConfig(
  options: NormalizedOptions,
  context: WireContext,
  toolChoice: string | JsonObject | undefined,
  warnings: string[],
): JsonObject {
  for (const option of UNSUPPORTED_OPTIONS)
    if (options[option] !== undefined) warnings.push(`"${option}" was omitted: the Interactions API does not have it.`);
  const { temperature, top_p, seed, max_output_tokens, stop } = options;
  // The SDK's types announce the end of these two.
  const sampling: JsonObject = omitUndefined({ temperature, top_p });
  return {
    ...sampling,
    ...({
      ...omitUndefined({ seed, max_output_tokens }),
      ...(stop === undefined || stop.length === 0 ? {} : { stop_sequences: [...stop] }),
      ...omitUndefined({ tool_choice: toolChoice }),
      ...toThinking(options, context, warnings),
    } satisfies Interactions.GenerationConfig),
  };
}

function toThinking(
  { reasoning, model }: NormalizedOptions,
  { capabilities }: WireContext,
  warnings: string[],
): Pick<Interactions.GenerationConfig, 'thinking_level' | 'thinking_summaries'> {
  const effort = reasoning?.effort ?? undefined;
  const summary = reasoning?.summary ?? undefined;
  if (effort === undefined && summary === undefined) return {};
  if (!capabilities.supportsReasoning) {
    warnings.push('reasoning was omitted: this model does not support thinking.');
    return {};
  }
  const level = effort === undefined ? undefined : levelOf(effort, model, warnings);
  return omitUndefined({
    thinking_level: level,
    thinking_summaries: summary === undefined ? undefined : summary === 'none' ? 'none' : 'auto',
  });
}

function levelOf(effort: string, model: string, warnings: string[]): string | undefined {
  const requested = Object.hasOwn(LEVEL_OF_EFFORT, effort) ? LEVEL_OF_EFFORT[effort] : undefined;
  if (requested === undefined) {
    warnings.push(`reasoning.effort ${effort} was omitted: Gemini does not support it.`);
    return undefined;
  }
  const { levels, thinking } = googleModelFeatures(model);
  const isAccepted = thinking !== 'level' || levels.includes(requested);
  const level = isAccepted ? requested : requested === 'minimal' ? 'low' : 'high';
  if (level !== effort) warnings.push(`reasoning.effort ${effort} is sent as ${level}.`);
  return level;
}

export interface ResponseFormatFields {
  readonly format?: JsonObject;
  /** An instruction for what the API has no parameter for. */
  readonly instruction?: string;
}

export function toResponseFormat(
  { response_format: format, model, tools = [] }: NormalizedOptions,
  { quirks, capabilities }: WireContext,
  warnings: string[],
  losses: Loss[],
): ResponseFormatFields {
  if (format === undefined || format.type === 'text') return {};
  const isSupported = quirks.structuredOutput !== 'none' && capabilities.supportsJSON;
  if (!isSupported || (tools.length > 0 && !googleModelFeatures(model).canCombineTools)) {
    const reason = `${model} does not support JSON output${isSupported ? ' together with tools' : ''}.`;
    warnings.push(`response_format is requested by an instruction: ${reason}`);
    losses.push({ path: 'response_format', what: 'native JSON output', reason });
    return { instruction: jsonInstruction(format) };
  }
  const json = { type: 'text', mime_type: 'application/json' } as const satisfies Interactions.TextResponseFormat;
  if (format.type === 'json_object') return { format: json };
  if (quirks.structuredOutput === 'json_object' || !capabilities.supportsJSONSchema)
    return { format: json, instruction: jsonInstruction(format) };
  const { schema, losses: lost } = sanitizeSchema(format.schema);
  for (const loss of lost) losses.push({ ...loss, path: `response_format.schema${loss.path}` });
  return { format: { ...json, schema } };
}

function jsonInstruction(format: Exclude<ResponseFormat, { readonly type: 'text' }>): string {
  const only = 'Answer with JSON only, without any text or code fence around it.';
  return format.type === 'json_object'
    ? only
    : `${only} The JSON must be valid against this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
