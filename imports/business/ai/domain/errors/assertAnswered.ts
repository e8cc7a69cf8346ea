/** Decides whether a response answers the request. Truncated, filtered and refused responses become typed errors. */
import { refusalOf } from '../entities/Response';
import { LLMContentFilterError, LLMIncompleteError, LLMRefusalError } from './LLMErrors';
import type { LLMError } from './LLMErrors';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** @throws LLMRefusalError, LLMContentFilterError or LLMIncompleteError, each with `.response` */
export function assertAnswered(response: LLMResponse): LLMResponse {
  const error = unansweredError(response);
  if (error !== undefined) throw error;
  return response;
}

/** The error that `assertAnswered` would throw, or `undefined`. */
export function unansweredError(response: LLMResponse): LLMError | undefined {
  const vendor = response.vendor.name;
  const refusal = refusalOf(response);
  if (refusal !== undefined || response.vendor.finish_reason === 'refusal') {
    return new LLMRefusalError(refusal ?? 'The model refused to answer.', { vendor, response });
  }
  if (response.status === 'completed')
    return isMissingToolCalls(response)
      ? new LLMIncompleteError('The response ended in order to call tools, but contains no tool call.', {
          vendor,
          response,
          reason: 'tool_calls',
        })
      : undefined;
  const reason = response.incomplete_details?.reason ?? response.status;
  if (reason === 'content_filter') {
    return new LLMContentFilterError("The vendor's content filter stopped the response.", { vendor, response });
  }
  return new LLMIncompleteError(incompletenessOf(response, reason), { vendor, response, reason });
}

function incompletenessOf({ vendor }: LLMResponse, reason: string): string {
  if (reason !== 'max_output_tokens') return `The response is incomplete: ${reason}.`;
  return FULL_WINDOW_REASONS.has(vendor.finish_reason)
    ? "The response was cut off because the model's context window is full. Send a shorter conversation."
    : 'The response was cut off at its token limit. Raise max_output_tokens.';
}

/**
 * Finish reasons of Anthropic (https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons) and
 * Mistral (https://docs.mistral.ai/api/endpoint/chat).
 */
const FULL_WINDOW_REASONS: ReadonlySet<string | null> = new Set(['model_context_window_exceeded', 'model_length']);

/** Finish reasons of Chat Completions and Anthropic that announce tool calls. */
const TOOL_CALL_REASONS: ReadonlySet<string | null> = new Set(['tool_calls', 'tool_use']);

/**
 * Whether the finish reason announces tool calls, yet there is neither a call, nor text, nor an item of the
 * vendor's own.
 */
function isMissingToolCalls({ output, output_text, vendor }: LLMResponse): boolean {
  return (
    TOOL_CALL_REASONS.has(vendor.finish_reason) &&
    output_text === '' &&
    output.every(({ type }) => type === 'reasoning' || type === 'message')
  );
}
