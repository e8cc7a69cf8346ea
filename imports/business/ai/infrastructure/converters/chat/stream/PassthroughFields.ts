/**
 * What a chat host said beyond what domain events say, for a client of the same wire: passed on as it comes, or
 * with the last chunk.
 */
import { isEmpty, isList, isObject } from '../../../../domain/json';
import { writeChatCompletions } from '../gateway/ChatCompletionsGateway';
import { REASONING_FIELDS } from '../response/assistantItems';
import { without } from '../chatJson';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { ChunkChoice, OpenAIChunk } from './OpenAIChunk';

/** Fields of a message that went out delta by delta. */
const STREAMED = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'executed_tools',
  ...REASONING_FIELDS,
];
const OF_A_CALL = ['tool_calls', 'function_call'];
const OF_A_COMPLETION = ['id', 'object', 'created', 'model', 'choices', 'usage'];

export class PassthroughFields {
  /** Fields of choice and message that were passed on: lists among them would come twice. */
  private readonly passed = new Set<string>();

  /** A chunk of which no event told anything; fragments of calls stay behind. */
  relayChunk(raw: JsonObject, head: Pick<OpenAIChunk, 'id' | 'object' | 'created' | 'model'>): OpenAIChunk {
    const choices = (isList(raw.choices) ? raw.choices.filter(isObject) : []).filter(
      ({ index }) => index === undefined || index === 0,
    );
    const shown = choices.map((choice): ChunkChoice => {
      const delta = isObject(choice.delta) ? without(choice.delta, OF_A_CALL) : {};
      for (const field in delta) this.passed.add(field);
      for (const field in choice) this.passed.add(field);
      return { finish_reason: null, ...choice, index: 0, delta };
    });
    // Hosts leave these blank, or number each chunk.
    return { ...raw, ...head, choices: shown };
  }

  /** The last chunk with everything that the whole completion says and no chunk has said yet. */
  finish(last: OpenAIChunk, response: LLMResponse, withOtherChoices: boolean): OpenAIChunk {
    const completion = writeChatCompletions(response);
    const [first, ...others] = isList(completion.choices) ? completion.choices.filter(isObject) : [];
    const [choice] = last.choices;
    if (first === undefined || choice === undefined) return last;
    const message = isObject(first.message) ? first.message : {};
    const fields = without(first, ['message', 'index', 'finish_reason', ...this.passed]);
    const delta = { ...without(message, [...STREAMED, ...this.passed]), ...contentParts(message) };
    return {
      ...last,
      ...without(completion, OF_A_COMPLETION),
      choices: [{ ...choice, ...fields, delta }, ...(withOtherChoices ? others.map(wholeChoice) : [])],
    };
  }
}

/** Parts of a kind that the inner language has no word for; the texts among them went out as text. */
function contentParts({ content }: JsonObject): JsonObject {
  const parts = isList(content)
    ? content.filter((part) => !isObject(part) || (part.type !== 'text' && part.type !== 'refusal'))
    : [];
  return parts.length === 0 ? {} : { content: parts };
}

/** Further choices are left aside while the first one is streamed, and come whole. */
function wholeChoice(choice: JsonObject, place: number): ChunkChoice {
  const message = isObject(choice.message) ? choice.message : {};
  const calls = isList(message.tool_calls)
    ? message.tool_calls.map((call, index) => (isObject(call) ? { index, ...call } : call))
    : [];
  const delta = calls.length === 0 ? message : { ...message, tool_calls: calls };
  const finish_reason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const index = typeof choice.index === 'number' ? choice.index : place + 1;
  return { ...without(choice, ['message']), index, delta: isEmpty(delta) ? {} : delta, finish_reason };
}
