/** Shows guardrails the input of embeddings as messages, one for each vector. */
import { readEmbeddingInputs } from '../../ai/domain/entities/embeddingInput';
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { isList } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { EmbeddingInput, EmbedOptions } from '../../ai/domain/types/EmbeddingTypes';
import type { GuardedRequest } from '../../ai/domain/types/GuardrailTypes';
import type { InputItem, MessageItem } from '../../ai/domain/types/ResponsesAPITypes';

/** @throws LLMInvalidRequestError for input that is not text */
export function embeddingRequest({ input, user, title }: EmbedOptions): GuardedRequest {
  return omitUndefined({
    input: readEmbeddingInputs(input).map((each, index): MessageItem => ({
      type: 'message',
      role: 'user',
      content: textsOf(each, index).map((text) => ({ type: 'input_text', text })),
    })),
    user,
    media: title === undefined ? undefined : { title },
  });
}

/** @returns the options with the texts of the changed request */
export function guardedEmbedding(
  { input }: EmbedOptions,
  { input: items, user, media }: GuardedRequest,
): Partial<EmbedOptions> {
  const texts = readEmbeddingInputs(input).map((each, index): EmbeddingInput => {
    const own = textsIn(items[index]);
    if (typeof each === 'string') return own[0] ?? '';
    if (isList(each)) return each;
    let next = 0;
    return {
      parts: each.parts.map((part) => (typeof part.text === 'string' ? { ...part, text: own[next++] } : part)),
    };
  });
  const title = media?.['title'];
  return omitUndefined({ input: texts, user, title: typeof title === 'string' ? title : undefined });
}

function textsOf(input: EmbeddingInput, index: number): readonly string[] {
  if (typeof input === 'string') return [input];
  if (isList(input))
    throw new LLMInvalidRequestError('Tokens cannot be checked by guardrails. Send the text instead.', {
      path: `input[${index}]`,
    });
  return input.parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

function textsIn(item: InputItem | undefined): readonly string[] {
  return item?.type === 'message'
    ? item.content.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
    : [];
}
