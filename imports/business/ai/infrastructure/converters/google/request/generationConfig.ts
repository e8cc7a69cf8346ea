/**
 * Converts options to a `generationConfig`: sampling, limits, response format and thinking.
 * https://ai.google.dev/api/generate-content#GenerationConfig
 */
import { toOpenApiSchema } from '../openApiSchema';
import { sanitizeSchema } from './jsonSchema';
import type { GoogleModelFeatures } from '../modelFeatures';
import { isEmpty } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

export interface GenerationConfig {
  readonly generationConfig: JsonObject;
  /** An instruction for what the API has no parameter for. */
  readonly instruction?: string;
}

/**
 * Thinking tokens per effort, as in Google's own OpenAI-compatible API
 * (https://ai.google.dev/gemini-api/docs/openai#thinking).
 */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
const LEVEL_OF_EFFORT: Readonly<Record<string, 'minimal' | 'low' | 'medium' | 'high'>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};
const MIN_BUDGET = 128;
const PENALTIES = [
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const;

type JsonFormat = Exclude<ResponseFormat, { type: 'text' }>;

/** @param passthrough the caller's own `generationConfig`, whose fields are not generated a second time */
export function toGenerationConfig(
  options: NormalizedOptions,
  context: WireContext,
  features: GoogleModelFeatures,
  passthrough: JsonObject,
  warnings: string[],
  losses: Loss[],
): GenerationConfig {
  const { temperature, top_p: topP, top_k: topK, seed, max_output_tokens: maxOutputTokens, stop } = options;
  const format = formatOf(options.response_format, passthrough);
  const responseFields =
    format === undefined ? undefined : toResponseFormat(format, options, context, features, warnings, losses);
  const thinkingConfig = toThinkingConfig(
    options.reasoning,
    context.capabilities.supportsReasoning ? features : { ...features, thinking: 'none' },
    passthrough,
    warnings,
  );
  return omitUndefined({
    generationConfig: omitUndefined({
      temperature,
      topP,
      topK,
      seed,
      ...penaltiesOf(options, features, passthrough, warnings),
      maxOutputTokens,
      stopSequences: stop === undefined || stop.length === 0 ? undefined : stop,
      ...responseFields?.fields,
      thinkingConfig,
    }),
    instruction: responseFields?.instruction,
  });
}

/** 0 is the default of both, so its omission is not reported. */
function penaltiesOf(
  options: NormalizedOptions,
  { supportsPenalties }: GoogleModelFeatures,
  passthrough: JsonObject,
  warnings: string[],
): JsonObject {
  const penalties: JsonObject = {};
  for (const [option, field] of PENALTIES) {
    const value = options[option] ?? 0;
    if (value === 0 || field in passthrough) continue;
    if (supportsPenalties) penalties[field] = value;
    else warnings.push(`${option} was omitted: ${options.model} does not support it.`);
  }
  return penalties;
}

function formatOf(format: ResponseFormat | undefined, passthrough: JsonObject): JsonFormat | undefined {
  if (format === undefined || format.type === 'text') return undefined;
  const isGiven = ['responseMimeType', 'responseSchema', 'responseJsonSchema'].some((field) => field in passthrough);
  return isGiven ? undefined : format;
}

interface ResponseFormatFields {
  readonly fields?: JsonObject;
  readonly instruction?: string;
}

function toResponseFormat(
  format: JsonFormat,
  options: NormalizedOptions,
  context: WireContext,
  features: GoogleModelFeatures,
  warnings: string[],
  losses: Loss[],
): ResponseFormatFields {
  const supported = supportedOutput(context);
  const hasTools = (options.tools ?? []).length > 0;
  if (supported === 'none' || (hasTools && !features.canCombineTools)) {
    const reason = `${options.model} does not support JSON output${supported === 'none' ? '' : ' together with tools'}.`;
    warnings.push(`response_format is requested by an instruction: ${reason}`);
    losses.push({ path: 'response_format', what: 'native JSON output', reason });
    return { instruction: jsonInstruction(format) };
  }
  const responseMimeType = 'application/json';
  if (format.type === 'json_object') return { fields: { responseMimeType } };
  if (supported === 'json_object') return { fields: { responseMimeType }, instruction: jsonInstruction(format) };
  const { schema, losses: lost } = features.supportsJsonSchema
    ? sanitizeSchema(format.schema)
    : toOpenApiSchema(format.schema);
  for (const loss of lost) losses.push({ ...loss, path: `response_format.schema${loss.path}` });
  return {
    fields: features.supportsJsonSchema
      ? { responseMimeType, responseJsonSchema: schema }
      : { responseMimeType, responseSchema: schema },
  };
}

/** The structured output that both the vendor and the model support. */
function supportedOutput({ quirks, capabilities }: WireContext): WireContext['quirks']['structuredOutput'] {
  if (!capabilities.supportsJSON) return 'none';
  return quirks.structuredOutput === 'json_schema' && !capabilities.supportsJSONSchema
    ? 'json_object'
    : quirks.structuredOutput;
}

function jsonInstruction(format: JsonFormat): string {
  const only = 'Answer with JSON only, without any text or code fence around it.';
  return format.type === 'json_object'
    ? only
    : `${only} The JSON must be valid against this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

function toThinkingConfig(
  reasoning: NormalizedOptions['reasoning'],
  features: GoogleModelFeatures,
  passthrough: JsonObject,
  warnings: string[],
): JsonObject | undefined {
  if (reasoning === undefined || 'thinkingConfig' in passthrough) return undefined;
  const effort = reasoning.effort ?? undefined;
  const summary = reasoning.summary ?? undefined;
  if (effort === undefined && summary === undefined) return undefined;
  if (features.thinking === 'none') {
    warnings.push('reasoning was omitted: this model does not support thinking.');
    return undefined;
  }
  const effortFields =
    effort === undefined
      ? {}
      : features.thinking === 'level'
        ? thinkingLevel(effort, features, warnings)
        : thinkingBudget(effort, features, warnings);
  const config = summary === undefined ? effortFields : { ...effortFields, includeThoughts: true };
  return isEmpty(config) ? undefined : config;
}

function thinkingLevel(effort: string, features: GoogleModelFeatures, warnings: string[]): JsonObject {
  const requested = Object.hasOwn(LEVEL_OF_EFFORT, effort) ? LEVEL_OF_EFFORT[effort] : undefined;
  if (requested === undefined) {
    warnings.push(`reasoning.effort ${effort} was omitted: Gemini does not support it.`);
    return {};
  }
  const levels = features.levels;
  const level = levels.includes(requested) ? requested : requested === 'minimal' ? 'low' : 'high';
  if (level !== effort)
    warnings.push(
      `reasoning.effort ${effort} is sent as ${level}${effort === 'none' ? ', the minimum of this model' : ''}.`,
    );
  return { thinkingLevel: level };
}

function thinkingBudget(effort: string, features: GoogleModelFeatures, warnings: string[]): JsonObject {
  if (effort === 'none') {
    if (features.canDisableThinking) return { thinkingBudget: 0 };
    warnings.push(`reasoning.effort none is sent as ${MIN_BUDGET} tokens, the minimum of this model.`);
    return { thinkingBudget: MIN_BUDGET };
  }
  const budget = Object.hasOwn(BUDGETS, effort) ? BUDGETS[effort] : undefined;
  if (budget === undefined) warnings.push(`reasoning.effort ${effort} was omitted: Gemini does not support it.`);
  return budget === undefined ? {} : { thinkingBudget: budget };
}
