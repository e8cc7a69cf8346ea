/**
 * Providers are ports that anybody may write: what such a one leaves out of its answer is filled in once, where it
 * comes in.
 */
import { randomUUID } from 'node:crypto';
import { assistantMessage } from '../../../domain/entities/Message';
import { outputTextOf } from '../../../domain/entities/Response';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../domain/json';
import type { LLMResponse, OutputItem, Usage } from '../../../domain/types/ResponsesAPITypes';

/**
 * @param given what a provider answered; one with nothing missing is given back as it is
 * @param provider its name, for errors and for `vendor.name`
 * @throws LLMServerError for what is no response at all
 */
export function normalizeResponse(given: unknown, provider: string): LLMResponse {
  if (!isObject(given))
    throw new LLMServerError(`The provider '${provider}' gave no response.`, { vendor: provider, retryable: false });
  // Boundary: what is there is taken for what its type says.
  const response = given as unknown as LLMResponse;
  return isComplete(given) ? response : completed(given, provider);
}

function isComplete({ id, status, output, output_text, usage, vendor }: Readonly<Record<string, unknown>>): boolean {
  if (typeof id !== 'string' || typeof status !== 'string' || !isList(output) || typeof output_text !== 'string')
    return false;
  if (output.length === 0 && output_text !== '') return false;
  return isCounted(usage) && isObject(vendor) && isList(vendor.warnings) && isList(vendor.losses);
}

function isCounted(usage: unknown): boolean {
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = fieldsOf(usage);
  const { cached_tokens, cache_write_tokens } = fieldsOf(input_tokens_details);
  const { reasoning_tokens } = fieldsOf(output_tokens_details);
  return [input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens].every(
    (count) => typeof count === 'number',
  );
}

function completed(given: Partial<LLMResponse>, provider: string): LLMResponse {
  const output = outputOf(given);
  const warnings = given.usage === undefined ? [`${provider} gave no usage: it counts as zero`] : [];
  const { warnings: said = [], losses = [], ...vendor }: Partial<LLMResponse['vendor']> = given.vendor ?? {};
  return {
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'completed',
    model: '',
    ...given,
    id: given.id ?? `resp_${randomUUID().replaceAll('-', '')}`,
    output,
    output_text: given.output_text ?? outputTextOf(output),
    usage: usageOf(given.usage),
    vendor: {
      name: provider,
      wire: 'responses',
      finish_reason: null,
      ...vendor,
      warnings: [...said, ...warnings],
      losses,
    },
  };
}

/** A text that is in no message would be lost to the next turn. */
function outputOf({ output = [], output_text = '' }: Partial<LLMResponse>): readonly OutputItem[] {
  return output.length === 0 && output_text !== '' ? [assistantMessage(output_text)] : output;
}

function usageOf(given: unknown): Usage {
  const usage = fieldsOf(given);
  const { cached_tokens, cache_write_tokens } = fieldsOf(usage.input_tokens_details);
  const { reasoning_tokens } = fieldsOf(usage.output_tokens_details);
  const input_tokens = count(usage.input_tokens);
  const output_tokens = count(usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: typeof usage.total_tokens === 'number' ? usage.total_tokens : input_tokens + output_tokens,
    input_tokens_details: { cached_tokens: count(cached_tokens), cache_write_tokens: count(cache_write_tokens) },
    output_tokens_details: { reasoning_tokens: count(reasoning_tokens) },
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}

function count(tokens: unknown): number {
  return typeof tokens === 'number' ? tokens : 0;
}
