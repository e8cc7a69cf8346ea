/** Whether a response is an answer. Truncated, filtered and refused ones are named outcomes, never an empty success. */
import { refusalOf } from '../../../domain/entities/Response';
import { LLMContentFilterError, LLMIncompleteError, LLMRefusalError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';

/** @throws LLMRefusalError, LLMContentFilterError or LLMIncompleteError, each with `.response` */
export function assertAnswered(response: LLMResponse): LLMResponse {
  const error = unansweredError(response);
  if (error !== undefined) throw error;
  return response;
}

/** What `assertAnswered` would throw, or `undefined` for an answer. */
export function unansweredError(response: LLMResponse): LLMError | undefined {
  const vendor = response.vendor.name;
  const refusal = refusalOf(response);
  if (refusal !== undefined || response.vendor.finish_reason === 'refusal') {
    return new LLMRefusalError(refusal ?? 'The model refused to answer.', { vendor, response });
  }
  if (response.status === 'completed')
    return isMissingToolCalls(response)
      ? new LLMIncompleteError('The answer ends to call tools, and calls none.', {
          vendor,
          response,
          reason: 'tool_calls',
        })
      : undefined;
  const reason = response.incomplete_details?.reason ?? response.status;
  if (reason === 'content_filter') {
    return new LLMContentFilterError("The answer was stopped by the vendor's content filter.", { vendor, response });
  }
  const message =
    reason === 'max_output_tokens'
      ? 'The answer was cut off at its token limit.'
      : `The answer is incomplete: ${reason}.`;
  return new LLMIncompleteError(message, { vendor, response, reason });
}

/** What chat hosts and Anthropic say where calls are to be answered. */
const TOOL_WORDS: ReadonlySet<string | null> = new Set(['tool_calls', 'tool_use']);

/** Neither words nor calls nor anything of a vendor's own, after a word that promises calls. */
function isMissingToolCalls({ output, output_text, vendor }: LLMResponse): boolean {
  return (
    TOOL_WORDS.has(vendor.finish_reason) &&
    output_text === '' &&
    output.every(({ type }) => type === 'reasoning' || type === 'message')
  );
}
