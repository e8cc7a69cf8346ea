/** Puts what a saved prompt says into a request. What the request itself sets wins. */
import { userMessage } from '../../../domain/entities/Message';
import type { PromptSource, ResolvedPrompt } from '../../../domain/interfaces/PromptSource';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import { invalid } from '../../../domain/util/arguments';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { normalizeInput } from '../ContentNormalizer';

type PromptedOptions = Pick<
  GenerateOptions,
  'prompt' | 'input' | 'instructions' | 'temperature' | 'max_output_tokens' | 'reasoning'
>;

/**
 * @param prompts absent: the program has none
 * @throws LLMInvalidRequestError, also without prompts; what their store throws
 */
export async function applyPrompt<O extends PromptedOptions>(
  prompts: PromptSource | undefined,
  userId: string,
  { prompt: reference, ...request }: O,
): Promise<{ readonly options: Omit<O, 'prompt'>; readonly prompt?: Pick<ResolvedPrompt, 'name' | 'version'> }> {
  if (reference === undefined) return { options: request };
  if (prompts === undefined) throw invalid('prompt', 'needs saved prompts, which only a host has');
  const { name, version, input, ...resolved } = await prompts.resolve(userId, reference);
  const defaults = omitUndefined({
    instructions: resolved.instructions,
    temperature: resolved.temperature,
    max_output_tokens: resolved.maxOutputTokens,
    reasoning: resolved.reasoning && { effort: resolved.reasoning },
  });
  const messages = input === undefined ? request.input : [userMessage(input), ...normalizeInput(request.input)];
  return { options: { ...defaults, ...request, input: messages }, prompt: { name, version } };
}
