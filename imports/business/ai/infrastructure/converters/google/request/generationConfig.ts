/**
 * How to generate: sampling, limits, the form of the answer and how much to think
 * (https://ai.google.dev/api/generate-content#GenerationConfig).
 */
import { toOpenApiSchema } from '../openApiSchema';
import { sanitiseSchema } from './jsonSchema';
import type { GoogleModelFacts } from '../modelFeatures';
import { isEmpty } from '../../../../domain/json';
import type { NormalizedOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

export interface GoogleGeneration {
  readonly generationConfig: JsonObject;
  /** What has to be asked for in words instead. */
  readonly instruction?: string;
}

/**
 * Tokens for an effort, the ones that Google's own OpenAI-compatible API uses
 * (https://ai.google.dev/gemini-api/docs/openai#thinking).
 */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};
const LEVEL_OF_EFFORT: Readonly<Record<string, 'minimal' | 'low' | 'medium' | 'high'>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};
const LEAST_BUDGET = 128;

type JsonFormat = Exclude<ResponseFormat, { type: 'text' }>;

/** @param verbatim `generationConfig` as the caller wrote it himself: what it says is not said twice */
export function toGenerationConfig(
  options: NormalizedOptions,
  context: WireContext,
  facts: GoogleModelFacts,
  verbatim: JsonObject,
  warnings: string[],
  losses: Loss[],
): GoogleGeneration {
  const { temperature, top_p: topP, max_output_tokens: maxOutputTokens, stop } = options;
  const format = formatOf(options.response_format, verbatim);
  const asked = format === undefined ? undefined : responseFormat(format, options, context, facts, warnings, losses);
  const thinkingConfig = toThinkingConfig(
    options.reasoning,
    context.capabilities.supportsReasoning ? facts : { ...facts, thinking: 'none' },
    verbatim,
    warnings,
  );
  return {
    generationConfig: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(stop === undefined || stop.length === 0 ? {} : { stopSequences: stop }),
      ...asked?.fields,
      ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
    },
    ...(asked?.instruction === undefined ? {} : { instruction: asked.instruction }),
  };
}

function formatOf(format: ResponseFormat | undefined, verbatim: JsonObject): JsonFormat | undefined {
  if (format === undefined || format.type === 'text') return undefined;
  const isSaid = ['responseMimeType', 'responseSchema', 'responseJsonSchema'].some((field) => field in verbatim);
  return isSaid ? undefined : format;
}

interface AskedFormat {
  readonly fields?: JsonObject;
  readonly instruction?: string;
}

function responseFormat(
  format: JsonFormat,
  options: NormalizedOptions,
  context: WireContext,
  facts: GoogleModelFacts,
  warnings: string[],
  losses: Loss[],
): AskedFormat {
  const supported = supportedOutput(context);
  const hasTools = (options.tools ?? []).length > 0;
  if (supported === 'none' || (hasTools && !facts.combinesTools)) {
    const reason = `${options.model} takes no JSON output${supported === 'none' ? '' : ' beside tools'}`;
    warnings.push(`response_format: asked for in words, since ${reason}`);
    losses.push({ path: 'response_format', what: 'native JSON output', reason });
    return { instruction: jsonInstruction(format) };
  }
  const responseMimeType = 'application/json';
  if (format.type === 'json_object') return { fields: { responseMimeType } };
  if (supported === 'json_object') return { fields: { responseMimeType }, instruction: jsonInstruction(format) };
  const { schema, losses: lost } = facts.takesJsonSchema
    ? sanitiseSchema(format.schema)
    : toOpenApiSchema(format.schema);
  for (const loss of lost) losses.push({ ...loss, path: `response_format.schema${loss.path}` });
  return {
    fields: facts.takesJsonSchema
      ? { responseMimeType, responseJsonSchema: schema }
      : { responseMimeType, responseSchema: schema },
  };
}

/** What both the host and the model have. */
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
  facts: GoogleModelFacts,
  verbatim: JsonObject,
  warnings: string[],
): JsonObject | undefined {
  if (reasoning === undefined || 'thinkingConfig' in verbatim) return undefined;
  const effort = reasoning.effort ?? undefined;
  const summary = reasoning.summary ?? undefined;
  if (effort === undefined && summary === undefined) return undefined;
  if (facts.thinking === 'none') {
    warnings.push('reasoning: this model does not think, so it is left out');
    return undefined;
  }
  const amount =
    effort === undefined
      ? {}
      : facts.thinking === 'level'
        ? thinkingLevel(effort, facts, warnings)
        : thinkingBudget(effort, facts, warnings);
  const config = { ...amount, ...(summary === undefined ? {} : { includeThoughts: true }) };
  return isEmpty(config) ? undefined : config;
}

function thinkingLevel(effort: string, facts: GoogleModelFacts, warnings: string[]): JsonObject {
  const wanted = Object.hasOwn(LEVEL_OF_EFFORT, effort) ? LEVEL_OF_EFFORT[effort] : undefined;
  if (wanted === undefined) {
    warnings.push(`reasoning.effort: ${effort} is not a word of Gemini's, so it is left out`);
    return {};
  }
  const levels = facts.levels;
  const level = levels.includes(wanted) ? wanted : wanted === 'minimal' ? 'low' : 'high';
  if (level !== effort)
    warnings.push(
      `reasoning.effort: ${effort} is sent as ${level}${effort === 'none' ? ', the least that this model thinks' : ''}`,
    );
  return { thinkingLevel: level };
}

function thinkingBudget(effort: string, facts: GoogleModelFacts, warnings: string[]): JsonObject {
  if (effort === 'none') {
    if (facts.canStopThinking) return { thinkingBudget: 0 };
    warnings.push(`reasoning.effort: none is sent as ${LEAST_BUDGET} tokens, the least that this model thinks`);
    return { thinkingBudget: LEAST_BUDGET };
  }
  const budget = Object.hasOwn(BUDGETS, effort) ? BUDGETS[effort] : undefined;
  if (budget === undefined) warnings.push(`reasoning.effort: ${effort} is not a word of Gemini's, so it is left out`);
  return budget === undefined ? {} : { thinkingBudget: budget };
}
