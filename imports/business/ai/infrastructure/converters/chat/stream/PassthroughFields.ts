/**
 * Passes on the fields of a chat stream that domain events do not represent, for clients of the same wire: as they
 * arrive, or with the last chunk.
 */
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import { writeChatCompletions } from '../gateway/ChatCompletionsGateway';
import { REASONING_FIELDS } from '../response/assistantItems';
import { isThought } from '../thoughts';
import { without } from '../vendorFields';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { ChunkChoice, OpenAIChunk } from './OpenAIChunk';

/** Fields of a message that were streamed as deltas. */
const STREAMED_FIELDS = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'executed_tools',
  ...REASONING_FIELDS,
];
const CALL_FIELDS = ['tool_calls', 'function_call'];
const COMPLETION_FIELDS = ['id', 'object', 'created', 'model', 'choices', 'usage'];

export class PassthroughFields {
  /** Fields of the choice and the message that were already sent; sending lists again would duplicate their entries. */
  private readonly sent = new Set<string>();

  /** Relays a chunk that no event represents, without what the last chunks have: calls, the finish reason, usage. */
  relayChunk(
    { usage: _, ...raw }: JsonObject,
    head: Pick<OpenAIChunk, 'id' | 'object' | 'created' | 'model'>,
  ): OpenAIChunk {
    const choices = (isList(raw.choices) ? raw.choices.filter(isObject) : []).filter(
      ({ index }) => index === undefined || index === 0,
    );
    const relayed = choices.map((choice): ChunkChoice => {
      const delta = isObject(choice.delta) ? without(choice.delta, CALL_FIELDS) : {};
      // A field is null until its value is known.
      for (const fields of [delta, choice])
        for (const field in fields) if (fields[field] !== null) this.sent.add(field);
      return { ...choice, index: 0, delta, finish_reason: null };
    });
    // Vendors leave the fields of `head` blank, or use another id for each chunk.
    return { ...raw, ...head, choices: relayed };
  }

  /** Adds to the last chunk every field of the completion that no chunk contained. */
  finish(last: OpenAIChunk, response: LLMResponse, withOtherChoices: boolean): OpenAIChunk {
    const completion = writeChatCompletions(response);
    const [first, ...others] = isList(completion.choices) ? completion.choices.filter(isObject) : [];
    const [choice] = last.choices;
    if (first === undefined || choice === undefined) return last;
    const message = isObject(first.message) ? first.message : {};
    const fields = without(first, ['message', 'index', 'finish_reason', ...this.sent]);
    const delta = {
      ...choice.delta,
      ...without(message, [...STREAMED_FIELDS, ...this.sent]),
      ...unmappedContent(message),
    };
    return {
      ...last,
      ...without(completion, COMPLETION_FIELDS),
      choices: [{ ...choice, ...fields, delta }, ...(withOtherChoices ? others.map(choiceChunk) : [])],
    };
  }
}

/** Content parts without a domain equivalent. Texts and reasoning are excluded: they were streamed. */
function unmappedContent({ content }: JsonObject): JsonObject {
  const parts = isList(content)
    ? content.filter((part) => !isObject(part) || (part.type !== 'text' && part.type !== 'refusal' && !isThought(part)))
    : [];
  return parts.length === 0 ? {} : { content: parts };
}

/** Only the first choice is streamed; each further one is sent as one complete delta. */
function choiceChunk(choice: JsonObject, position: number): ChunkChoice {
  const message = isObject(choice.message) ? choice.message : {};
  const calls = isList(message.tool_calls)
    ? message.tool_calls.map((call, index) => (isObject(call) ? { index, ...call } : call))
    : [];
  const delta = calls.length === 0 ? message : { ...message, tool_calls: calls };
  const finish_reason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const index = typeof choice.index === 'number' ? choice.index : position + 1;
  return { ...without(choice, ['message']), index, delta: isEmpty(delta) ? {} : delta, finish_reason };
}
