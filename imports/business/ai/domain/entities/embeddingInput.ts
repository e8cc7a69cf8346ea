/** Reads and measures the input of embeddings. */
import { invalid } from '../util/arguments';
import { CHARACTERS_PER_TOKEN } from './charactersPerToken';
import { isList, isObject, isObjectList } from '../util/json';
import type { EmbeddingInput, EmbedOptions } from '../types/EmbeddingTypes';
import type { Usage } from '../types/ResponsesAPITypes';

/** @throws LLMInvalidRequestError with the path of an entry that is neither text nor tokens nor parts */
export function readEmbeddingInputs(input: unknown): readonly EmbeddingInput[] {
  if (!isList(input) || isTokens(input)) return [readEmbeddingInput(input, 'input')];
  if (input.length === 0) throw invalid('input', 'must not be empty');
  return input.map((each, index) => readEmbeddingInput(each, `input[${index}]`));
}

function readEmbeddingInput(value: unknown, path: string): EmbeddingInput {
  if (typeof value === 'string' || isTokens(value)) return value;
  if (isObject(value) && isObjectList(value.parts) && value.parts.length > 0) return { parts: value.parts };
  throw invalid(path, 'must be a text or a list of tokens');
}

function isTokens(value: unknown): value is readonly number[] {
  return isList(value) && value.length > 0 && value.every((token) => Number.isSafeInteger(token) && Number(token) >= 0);
}

/** By the length of the texts, for budgets and for vendors that report no usage. */
export function estimateEmbeddingUsage({ input }: Pick<EmbedOptions, 'input'>): Usage {
  return embeddingUsage(
    readEmbeddingInputs(input).reduce((sum, each) => sum + estimateTokens(each), 0),
    true,
  );
}

export function embeddingUsage(tokens: number, isEstimated = false): Usage {
  return {
    input_tokens: tokens,
    output_tokens: 0,
    total_tokens: tokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
    ...(isEstimated ? { estimated: true } : {}),
  };
}

function estimateTokens(input: EmbeddingInput): number {
  if (isList(input)) return input.length;
  const text = typeof input === 'string' ? input : JSON.stringify(input.parts);
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
