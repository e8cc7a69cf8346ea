/** Reads responses and adds up their token usage. */
import type { FunctionCallItem, LLMResponse, OutputItem, Usage } from '../types/ResponsesAPITypes';

export type { LLMResponse } from '../types/ResponsesAPITypes';

export function toolCalls(response: LLMResponse): readonly FunctionCallItem[] {
  return response.output.filter((item): item is FunctionCallItem => item.type === 'function_call');
}

/** The text of all messages, concatenated. Refusals are not text. */
export function textOf(response: Pick<LLMResponse, 'output'>): string {
  return outputTextOf(response.output);
}

export function outputTextOf(output: readonly OutputItem[]): string {
  let text = '';
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) if (part.type === 'output_text') text += part.text;
  }
  return text;
}

/** The text of the model's refusal, or `undefined`. */
export function refusalOf(response: Pick<LLMResponse, 'output'>): string | undefined {
  for (const item of response.output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) if (part.type === 'refusal') return part.refusal;
  }
  return undefined;
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    input_tokens_details: {
      cached_tokens: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens,
      cache_write_tokens: a.input_tokens_details.cache_write_tokens + b.input_tokens_details.cache_write_tokens,
      ...hourWrites(
        (a.input_tokens_details.cache_write_1h_tokens ?? 0) + (b.input_tokens_details.cache_write_1h_tokens ?? 0),
      ),
    },
    output_tokens_details: {
      reasoning_tokens: a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens,
    },
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  };
}

/** The detail of usage that counts tokens written to a cache for an hour; only where there are any. */
export function hourWrites(tokens: number): { readonly cache_write_1h_tokens?: number } {
  return tokens === 0 ? {} : { cache_write_1h_tokens: tokens };
}
