/**
 * Encodes domain events as the SSE stream of a chat completion.
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { ContentEvent } from '../../stream/BaseStreamEncoder';
import { ChatChunks } from './ChatChunks';
import type { OpenAIChunk } from './OpenAIChunk';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

const DONE: readonly string[] = ['data: [DONE]\n\n'];
const CONTENT_SUFFIX = '},"finish_reason":null}]}\n\n';

export class ChatCompletionsEncoder extends BaseStreamEncoder {
  private readonly chunks: ChatChunks;
  /** The frame of a content delta up to its text; undefined until the response has an id. */
  private contentPrefix: string | undefined;

  constructor(options: StreamEncoderOptions) {
    super(options);
    this.chunks = new ChatChunks(options);
  }

  protected encode(event: ContentEvent): readonly string[] {
    if (event.type !== 'response.output_text.delta') return this.chunks.push(event).map(frame);
    if (this.contentPrefix === undefined) {
      const frames = this.chunks.push(event).map(frame);
      const { head } = this.chunks;
      if (head !== undefined)
        this.contentPrefix = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":0,"delta":{"content":`;
      return frames;
    }
    this.chunks.noteDelta(event);
    return [this.contentPrefix + JSON.stringify(event.delta) + CONTENT_SUFFIX];
  }

  protected complete(response: LLMResponse): readonly string[] {
    const chunks = this.chunks.push({ type: 'response.completed', response });
    return (this.options.includeUsage === true ? chunks : chunks.filter(({ choices }) => choices.length > 0)).map(
      frame,
    );
  }

  protected endMarker(): readonly string[] {
    return DONE;
  }

  /**
   * The end marker would signal success, so none follows. It is also escaped in the message, because some clients
   * search for it anywhere in a line.
   */
  protected encodeError(error: LLMError): readonly string[] {
    return [`data: ${JSON.stringify(chatStreamError(error)).replaceAll('[DONE]', '\\u005bDONE]')}\n\n`];
  }
}

function frame(chunk: OpenAIChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** By HTTP status; every other status is a `server_error`. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'invalid_request_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  409: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};

function chatStreamError(error: LLMError): JsonObject {
  return {
    error: {
      message: error.message,
      type: TYPES[error.httpStatus] ?? 'server_error',
      param: error.path ?? null,
      code: error.code,
    },
  };
}
