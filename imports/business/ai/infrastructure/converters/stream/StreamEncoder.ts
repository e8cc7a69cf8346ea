/** The contract of a wire's stream encoder: domain events in, SSE frames out. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/**
 * The field of a chat completion that holds the model's reasoning. `reasoning_content`: DeepSeek, xAI, older vLLM.
 * `reasoning`: Groq, OpenRouter, Ollama, Cerebras, newer vLLM.
 */
export type ReasoningField = 'reasoning_content' | 'reasoning';
export type RawReasoningName = 'reasoning' | 'reasoning_text';

/**
 * Encodes one stream. A frame is one SSE message including its blank line. Write each frame in one piece: some
 * clients lose a frame that is split across two reads.
 */
export interface StreamEncoder {
  /** @returns the frames of this event; none once the stream has ended */
  push(event: ResponseStreamEvent): readonly string[];
  /**
   * @returns the wire's end marker. A stream without a completed response ends with an error instead, so that it
   *   never looks like a success.
   */
  end(): readonly string[];
  /**
   * Ends the stream with the error in the wire's format.
   * @returns no frames if the completed response was already sent: the client has the entire response by then
   */
  fail(error: LLMError): readonly string[];
}

/** What an encoder needs to know about the request and the client. */
export interface StreamEncoderOptions {
  /** The requested model; used until the stream names its own. */
  readonly model: string;
  /** The response id; used until the stream names its own. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Chat completions only: the client requested token counts (`stream_options.include_usage`). */
  readonly includeUsage?: boolean;
  /**
   * Chat completions only: sends all tool calls in the chunk with the finish reason instead of one by one. Default:
   * false.
   */
  readonly callsInLastChunk?: boolean;
  /**
   * False hides tool calls, and every field that refers to them, from the client, except announcements. Default:
   * true.
   */
  readonly relayToolUseEvents?: boolean;
  /** Sends a frame as soon as the model starts a call. Default: false. */
  readonly emitFunctionAnnouncements?: boolean;
  /** Chat completions only: the field the client reads reasoning from. Default: `reasoning_content`. */
  readonly reasoningField?: ReasoningField | undefined;
  /**
   * Responses only: the name of raw reasoning events. Open Responses defines `response.reasoning.*`, OpenAI and its
   * clients `response.reasoning_text.*`; a client of one may reject the other. Default: `reasoning`.
   */
  readonly rawReasoningName?: RawReasoningName | undefined;
  /** Responses only: the request's own fields that the response repeats. */
  readonly echo?: JsonObject | undefined;
}

/** For events that produce no frame. */
export const NO_FRAMES: readonly string[] = [];

/** @param data serialized as JSON, which never contains line breaks */
export function namedFrame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
