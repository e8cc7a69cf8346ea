/** Reads responses and adds up their token usage. */
import { freezeDeep } from '../util/freezeDeep';
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

/** Frozen, since responses without usage hold it: what a caller wrote into it would count for all others. */
export const NO_USAGE: Usage = freezeDeep({
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
});

export function addUsage(a: Usage, b: Usage): Usage {
  const inputs = a.input_tokens_details;
  const otherInputs = b.input_tokens_details;
  const outputs = a.output_tokens_details;
  const otherOutputs = b.output_tokens_details;
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    input_tokens_details: {
      cached_tokens: inputs.cached_tokens + otherInputs.cached_tokens,
      cache_write_tokens: inputs.cache_write_tokens + otherInputs.cache_write_tokens,
      ...addCounts(INPUT_COUNTS, inputs, otherInputs),
    },
    output_tokens_details: {
      reasoning_tokens: outputs.reasoning_tokens + otherOutputs.reasoning_tokens,
      ...addCounts(OUTPUT_COUNTS, outputs, otherOutputs),
    },
    ...addToolUse(a.server_tool_use, b.server_tool_use),
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  };
}

/** The details of usage that are absent where there is nothing to count. */
export const INPUT_COUNTS = [
  'cache_write_1h_tokens',
  'cache_write_12h_tokens',
  'audio_tokens',
  'cached_audio_tokens',
  'image_tokens',
  'cached_image_tokens',
  'free_tokens',
  'stored_token_hours',
] as const satisfies readonly (keyof Usage['input_tokens_details'])[];
export const OUTPUT_COUNTS = [
  'audio_tokens',
  'image_tokens',
] as const satisfies readonly (keyof Usage['output_tokens_details'])[];

/** Reads a vendor's count. OpenAI has reported -9 output tokens, which no sum and no counter of metrics can take. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * Returns the counts that are positive numbers.
 * @param names default: all
 */
export function positiveCounts<N extends string>(
  counts: { readonly [K in N]?: unknown },
  names: readonly N[] = Object.keys(counts) as N[],
): { readonly [K in N]?: number } {
  const positive: { [K in N]?: number } = {};
  for (const name of names) {
    const count = tokenCount(counts[name]);
    if (count > 0) positive[name] = count;
  }
  return positive;
}

/** Returns the field `server_tool_use`, if any tool has run. */
export function serverToolUse(uses: Readonly<Record<string, unknown>>): Pick<Usage, 'server_tool_use'> {
  // Without undefined members: the compiler cannot tell.
  const counted = positiveCounts(uses) as Readonly<Record<string, number>>;
  return Object.keys(counted).length === 0 ? {} : { server_tool_use: counted };
}

function addCounts<N extends string>(
  names: readonly N[],
  a: { readonly [K in N]?: number },
  b: { readonly [K in N]?: number },
): { readonly [K in N]?: number } {
  if (hasNoneBut(ALWAYS_COUNTED, a) && hasNoneBut(ALWAYS_COUNTED, b)) return NO_COUNTS;
  const sums: { [K in N]?: number } = {};
  for (const name of names) {
    const sum = (a[name] ?? 0) + (b[name] ?? 0);
    if (sum > 0) sums[name] = sum;
  }
  return sums;
}

const ALWAYS_COUNTED: ReadonlySet<string> = new Set(['cached_tokens', 'cache_write_tokens', 'reasoning_tokens']);
const NO_COUNTS = {};

function hasNoneBut(names: ReadonlySet<string>, counts: object): boolean {
  for (const name in counts) if (!names.has(name)) return false;
  return true;
}

function addToolUse(a: Usage['server_tool_use'], b: Usage['server_tool_use']): Pick<Usage, 'server_tool_use'> {
  if (a === undefined || b === undefined) {
    const either = a ?? b;
    return either === undefined ? {} : { server_tool_use: either };
  }
  const sum: Record<string, number> = { ...a };
  for (const [tool, uses] of Object.entries(b)) sum[tool] = (sum[tool] ?? 0) + uses;
  return { server_tool_use: sum };
}
