/**
 * Fills in what a response lacks: anybody may implement the provider port, and few implementations return every
 * field.
 */
import { randomUUID } from 'node:crypto';
import {
  INPUT_COUNTS,
  OUTPUT_COUNTS,
  outputTextOf,
  positiveCounts,
  serverToolUse,
  tokenCount,
} from '../../../domain/entities/Response';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import type { LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { createCallId, isEmptyOutput, isNormalOutput, looseOutput, normalizeOutput } from './normalizeOutput';
import type { CallIds } from './normalizeOutput';

/**
 * @param given what a provider returned; a complete response is returned unchanged
 * @param provider its name, for errors and for `vendor.name`
 * @param callId creates ids for calls that have none
 * @throws LLMServerError for anything but an object with output
 */
export function normalizeResponse(given: unknown, provider: string, callId: CallIds = createCallId): LLMResponse {
  if (!isObject(given))
    throw new LLMServerError(`The provider "${provider}" returned no response object.`, {
      vendor: provider,
      retryable: false,
    });
  // Boundary: fields that are present are trusted to have their declared types.
  const response = given as unknown as LLMResponse;
  return isComplete(given) ? response : completed(given, provider, callId);
}

function isComplete({ id, status, output, output_text, usage, vendor }: Readonly<Record<string, unknown>>): boolean {
  if (typeof id !== 'string' || typeof status !== 'string' || !isList(output) || typeof output_text !== 'string')
    return false;
  if ((output.length === 0 && output_text !== '') || !isNormalOutput(output)) return false;
  return isCompleteUsage(usage) && isObject(vendor) && isList(vendor.warnings) && isList(vendor.losses);
}

function isCompleteUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const { input_tokens_details: inputs, output_tokens_details: outputs } = usage;
  return (
    isObject(inputs) &&
    isObject(outputs) &&
    typeof usage.input_tokens === 'number' &&
    typeof usage.output_tokens === 'number' &&
    typeof usage.total_tokens === 'number' &&
    typeof inputs.cached_tokens === 'number' &&
    typeof inputs.cache_write_tokens === 'number' &&
    typeof outputs.reasoning_tokens === 'number'
  );
}

function completed(given: Partial<LLMResponse> & JsonObject, provider: string, callId: CallIds): LLMResponse {
  const output = normalizeOutput(looseOutput(given), provider, callId);
  if (isEmptyOutput(output) && (given.status ?? 'completed') === 'completed')
    throw new LLMServerError(
      `The provider "${provider}" returned a response without text, tool calls or other output items. ` +
        'Return { output: [...] } with items, or { output_text }.',
      { vendor: provider, retryable: false },
    );
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
    output_text: given.output_text || outputTextOf(output),
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

function usageOf(given: unknown): Usage {
  const usage = fieldsOf(given);
  const inputs = fieldsOf(usage.input_tokens_details);
  const outputs = fieldsOf(usage.output_tokens_details);
  const input_tokens = tokenCount(usage.input_tokens);
  const output_tokens = tokenCount(usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: tokenCount(usage.total_tokens) || input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: tokenCount(inputs.cached_tokens),
      cache_write_tokens: tokenCount(inputs.cache_write_tokens),
      ...positiveCounts(inputs, INPUT_COUNTS),
    },
    output_tokens_details: {
      reasoning_tokens: tokenCount(outputs.reasoning_tokens),
      ...positiveCounts(outputs, OUTPUT_COUNTS),
    },
    ...serverToolUse(fieldsOf(usage.server_tool_use)),
    ...(usage.estimated === true ? { estimated: true } : {}),
  };
}
