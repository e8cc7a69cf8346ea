/**
 * Domain events as the SSE stream of a chat completion.
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { OpenEvent } from '../../stream/BaseStreamEncoder';
import { ChatChunks } from './ChatChunks';
import type { OpenAIChunk } from './OpenAIChunk';
import type { EncoderFacts } from '../../stream/StreamEncoder';
import { openAIError } from '../../stream/streamErrors';

const DONE: readonly string[] = ['data: [DONE]\n\n'];
const AFTER_CONTENT = '},"finish_reason":null}]}\n\n';

export class ChatCompletionsEncoder extends BaseStreamEncoder {
  private readonly chunks: ChatChunks;
  /** A content delta's frame up to the text, once the stream has named itself. */
  private beforeContent: string | undefined;

  constructor(facts: EncoderFacts) {
    super(facts);
    this.chunks = new ChatChunks(facts);
  }

  protected encode(event: OpenEvent): readonly string[] {
    if (event.type !== 'response.output_text.delta') return this.chunks.push(event).map(frame);
    if (this.beforeContent === undefined) {
      const frames = this.chunks.push(event).map(frame);
      const { head } = this.chunks;
      if (head !== undefined)
        this.beforeContent = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":0,"delta":{"content":`;
      return frames;
    }
    this.chunks.note(event);
    return [this.beforeContent + JSON.stringify(event.delta) + AFTER_CONTENT];
  }

  protected complete(response: LLMResponse): readonly string[] {
    const chunks = this.chunks.push({ type: 'response.completed', response });
    return (this.facts.includeUsage === true ? chunks : chunks.filter(({ choices }) => choices.length > 0)).map(frame);
  }

  protected terminate(): readonly string[] {
    return DONE;
  }

  /**
   * No end marker follows, nor stands in the message, where a client that looks for it anywhere in a line would
   * find it: it means success.
   */
  protected break(error: LLMError): readonly string[] {
    return [`data: ${JSON.stringify(openAIError(error)).replaceAll('[DONE]', '\\u005bDONE]')}\n\n`];
  }
}

function frame(chunk: OpenAIChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
