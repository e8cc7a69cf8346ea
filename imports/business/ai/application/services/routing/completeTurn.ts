/** Runs a model's turn to its end, however many responses it takes. */
import { NO_USAGE, addUsage } from '../../../domain/entities/Response';
import { LLMIncompleteError } from '../../../domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import { normalizeInput } from '../ContentNormalizer';
import { assertAnswered } from '../../../domain/errors/assertAnswered';

export interface ModelAnswer {
  readonly response: LLMResponse;
  /** The input and all output up to and including the response. */
  readonly conversation: readonly Item[];
  /** The usage of all calls that led to the response. */
  readonly usage: Usage;
}

const MAX_CONTINUATIONS = 10;

/**
 * Continues a turn that Anthropic paused (`pause_turn`): its server pauses long turns of its own tools, and resumes
 * them when it is sent the conversation unchanged.
 * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError for responses that are no answer; whatever
 *   `generate` throws
 */
export async function completeTurn(
  generate: (options: GenerateOptions) => Promise<LLMResponse>,
  options: GenerateOptions,
): Promise<ModelAnswer & { readonly text: string }> {
  let text = '';
  let usage = NO_USAGE;
  let request = options;
  for (let responses = 1; ; responses += 1) {
    const response = assertAnswered(await generate(request));
    text += response.output_text;
    usage = addUsage(usage, response.usage);
    const { conversation } = modelAnswer(request, response);
    if (response.vendor.finish_reason !== 'pause_turn') return { text, response, usage, conversation };
    if (responses >= MAX_CONTINUATIONS) {
      throw new LLMIncompleteError(`The vendor paused the turn ${responses} times without finishing it.`, {
        reason: 'pause_turn',
        response,
      });
    }
    request = { ...request, input: conversation };
  }
}

/** The response to a single call with `options`. */
export function modelAnswer(options: GenerateOptions, response: LLMResponse): ModelAnswer {
  return { response, conversation: [...normalizeInput(options.input), ...response.output], usage: response.usage };
}
