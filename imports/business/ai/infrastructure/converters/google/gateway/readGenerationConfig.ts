/**
 * Reads a client's `generationConfig` as options, the inverse of `toGenerationConfig`.
 * https://ai.google.dev/api/generate-content#GenerationConfig
 */
import { fromOpenApiSchema } from '../openApiSchema';
import { camelCaseKeys } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { GenerateOptions, ReasoningEffort, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface GenerationOptions {
  readonly options: Pick<
    GenerateOptions,
    | 'temperature'
    | 'top_p'
    | 'top_k'
    | 'seed'
    | 'presence_penalty'
    | 'frequency_penalty'
    | 'max_output_tokens'
    | 'stop'
    | 'response_format'
    | 'reasoning'
  >;
  /**
   * Fields that options do not express exactly. The response format, thinking and less common sampling parameters are
   * in both: as options for other vendors, and verbatim for Gemini.
   */
  readonly verbatim?: JsonObject;
}

export function readGenerationConfig(config: unknown): GenerationOptions {
  if (config === undefined) return { options: {} };
  if (!isObject(config))
    throw new LLMInvalidRequestError('"generationConfig" must be an object.', { path: 'generationConfig' });
  const { temperature, topP, maxOutputTokens, stopSequences, ...verbatim } = camelCaseKeys(config);
  const numbers = {
    temperature: ['temperature', temperature],
    top_p: ['topP', topP],
    max_output_tokens: ['maxOutputTokens', maxOutputTokens],
  } as const;
  const exact: { temperature?: number; top_p?: number; max_output_tokens?: number; stop?: readonly string[] } = {};
  for (const option of ['temperature', 'top_p', 'max_output_tokens'] as const) {
    const [field, value] = numbers[option];
    if (typeof value === 'number') exact[option] = value;
    else if (value !== undefined) verbatim[field] = value;
  }
  if (isTextList(stopSequences)) exact.stop = stopSequences;
  else if (stopSequences !== undefined) verbatim.stopSequences = stopSequences;

  const format = formatOf(verbatim);
  const reasoning = reasoningOf(verbatim.thinkingConfig);
  return {
    options: omitUndefined({ ...exact, ...samplingOf(verbatim), response_format: format, reasoning }),
    ...(isEmpty(verbatim) && !isEmpty(config) ? {} : { verbatim }),
  };
}

/** Without values that options do not permit. */
function samplingOf({ topK, seed, presencePenalty, frequencyPenalty }: JsonObject): Partial<GenerateOptions> {
  return omitUndefined({
    top_k: isInteger(topK) && topK > 0 ? topK : undefined,
    seed: isInteger(seed) ? seed : undefined,
    presence_penalty: penaltyOf(presencePenalty),
    frequency_penalty: penaltyOf(frequencyPenalty),
  });
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function penaltyOf(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= 2 ? value : undefined;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

function formatOf({ responseMimeType, responseJsonSchema, responseSchema }: JsonObject): ResponseFormat | undefined {
  if (responseMimeType !== 'application/json') return undefined;
  if (isObject(responseJsonSchema)) return { type: 'json_schema', name: 'response', schema: responseJsonSchema };
  if (isObject(responseSchema))
    return { type: 'json_schema', name: 'response', schema: fromOpenApiSchema(responseSchema) };
  return { type: 'json_object' };
}

function reasoningOf(config: unknown): GenerateOptions['reasoning'] {
  if (!isObject(config)) return undefined;
  const { thinkingLevel, thinkingBudget, includeThoughts } = camelCaseKeys(config);
  const effort =
    typeof thinkingLevel === 'string'
      ? thinkingLevel.toLowerCase()
      : typeof thinkingBudget === 'number'
        ? effortOf(thinkingBudget)
        : undefined;
  if (effort === undefined && includeThoughts !== true) return undefined;
  return omitUndefined({ effort, summary: includeThoughts === true ? 'auto' : undefined });
}

/** A negative budget leaves the effort to the model. */
function effortOf(budget: number): ReasoningEffort | undefined {
  if (budget < 0) return undefined;
  if (budget === 0) return 'none';
  if (budget <= 1_024) return 'low';
  return budget <= 8_192 ? 'medium' : 'high';
}
