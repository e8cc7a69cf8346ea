/** A model's turn to its end, however many answers it takes. */
import { NO_USAGE, addUsage } from '../../../domain/entities/Response';
import { LLMIncompleteError } from '../../../domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { assertAnswered } from './assertAnswered';
import { modelAnswer } from '../structured/StructuredOutput';
import type { ModelAnswer } from '../structured/StructuredOutput';

const MAX_CONTINUATIONS = 10;

/**
 * Anthropic's server pauses a long turn of its own tools; it goes on when it is sent back as it is.
 * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError for answers that are none; whatever
 *   `generate` throws
 */
export async function completeTurn(
  generate: (options: GenerateOptions) => Promise<LLMResponse>,
  options: GenerateOptions,
): Promise<ModelAnswer & { readonly text: string }> {
  let text = '';
  let usage = NO_USAGE;
  let request = options;
  for (let parts = 1; ; parts += 1) {
    const response = assertAnswered(await generate(request));
    text += response.output_text;
    usage = addUsage(usage, response.usage);
    const { conversation } = modelAnswer(request, response);
    if (response.vendor.finish_reason !== 'pause_turn') return { text, response, usage, conversation };
    if (parts >= MAX_CONTINUATIONS) {
      throw new LLMIncompleteError(`The turn was paused ${parts} times without an answer.`, {
        reason: 'pause_turn',
        response,
      });
    }
    request = { ...request, input: conversation };
  }
}
