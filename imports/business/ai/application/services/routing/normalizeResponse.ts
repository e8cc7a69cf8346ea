/**
 * Fills in what a response lacks: anybody may implement the provider port, and few implementations return every
 * field.
 */
import { randomUUID } from 'node:crypto';
import { assistantMessage } from '../../../domain/entities/Message';
import { outputTextOf } from '../../../domain/entities/Response';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../domain/json';
import type { LLMResponse, OutputItem, Usage } from '../../../domain/types/ResponsesAPITypes';

/**
 * @param given what a provider returned; a complete response is returned unchanged
 * @param provider its name, for errors and for `vendor.name`
 * @throws LLMServerError for anything but an object
 */
export function normalizeResponse(given: unknown, provider: string): LLMResponse {
  if (!isObject(given))
    throw new LLMServerError(`The provider "${provider}" returned no response object.`, {
      vendor: provider,
      retryable: false,
    });
  // Boundary: fields that are present are trusted to have their declared types.
  const response = given as unknown as LLMResponse;
  return isComplete(given) ? response : completed(given, provider);
}

function isComplete({ id, status, output, output_text, usage, vendor }: Readonly<Record<string, unknown>>): boolean {
  if (typeof id !== 'string' || typeof status !== 'string' || !isList(output) || typeof output_text !== 'string')
    return false;
  if (output.length === 0 && output_text !== '') return false;
  return isCompleteUsage(usage) && isObject(vendor) && isList(vendor.warnings) && isList(vendor.losses);
}

function isCompleteUsage(usage: unknown): boolean {
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = fieldsOf(usage);
  const { cached_tokens, cache_write_tokens } = fieldsOf(input_tokens_details);
  const { reasoning_tokens } = fieldsOf(output_tokens_details);
  return [input_tokens, output_tokens, total_tokens, cached_tokens, cache_write_tokens, reasoning_tokens].every(
    (count) => typeof count === 'number',
  );
}

function completed(given: Partial<LLMResponse>, provider: string): LLMResponse {
  const output = outputOf(given);
  const usageWarnings =
    given.usage === undefined ? [`The provider "${provider}" reported no usage, so it counts as zero.`] : [];
  const { warnings = [], losses = [], ...vendor }: Partial<LLMResponse['vendor']> = given.vendor ?? {};
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
      warnings: [...warnings, ...usageWarnings],
      losses,
    },
  };
}

/** Text outside any message would be missing from the next turn's history. */
function outputOf({ output = [], output_text = '' }: Partial<LLMResponse>): readonly OutputItem[] {
  return output.length === 0 && output_text !== '' ? [assistantMessage(output_text)] : output;
}

function usageOf(given: unknown): Usage {
  const usage = fieldsOf(given);
  const { cached_tokens, cache_write_tokens } = fieldsOf(usage.input_tokens_details);
  const { reasoning_tokens } = fieldsOf(usage.output_tokens_details);
  const input_tokens = numberOr0(usage.input_tokens);
  const output_tokens = numberOr0(usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: typeof usage.total_tokens === 'number' ? usage.total_tokens : input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: numberOr0(cached_tokens),
      cache_write_tokens: numberOr0(cache_write_tokens),
    },
    output_tokens_details: { reasoning_tokens: numberOr0(reasoning_tokens) },
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}

function numberOr0(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
