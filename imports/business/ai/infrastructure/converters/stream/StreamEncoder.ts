/** What every target scheme gives to streams: domain events in, SSE frames out. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { REASONING_FIELDS } from '../chat/response/assistantItems';

export type ReasoningField = (typeof REASONING_FIELDS)[number];
export type RawReasoningName = 'reasoning' | 'reasoning_text';

/**
 * One stream's state. A frame is one SSE message with its blank line, to be written in one piece: some readers
 * forget half a frame between two reads.
 */
export interface StreamEncoder {
  /** The frames that this event is; nothing at all once the stream has ended. */
  push(event: ResponseStreamEvent): readonly string[];
  /**
   * What the target's grammar puts last. A stream without its completed response ends with an error instead, never
   * like a success.
   */
  end(): readonly string[];
  /**
   * The error in the target's words, and the end; nothing when the completed response has gone out already, since
   * the answer is whole then.
   */
  fail(error: LLMError): readonly string[];
}

/** What an encoder must know of the request and the client. */
export interface StreamEncoderOptions {
  /** The model that was asked, until the stream names its own. */
  readonly model: string;
  /** The response's id, until the stream names its own. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** The client asked for token counts, where the target leaves that to it: chat completions only. */
  readonly includeUsage?: boolean;
  /** False keeps tool calls, and words that speak of them, from the client. Default: true. */
  readonly relayToolUseEvents?: boolean;
  /** A frame tells when the model begins a call. Default: false. */
  readonly emitFunctionAnnouncements?: boolean;
  /** Chat completions: where the client looks for the model's reasoning. Default: `reasoning_content`. */
  readonly reasoningField?: ReasoningField;
  /**
   * Responses: what the events of raw reasoning are called. Open Responses knows `response.reasoning.*`, OpenAI and
   * its clients only `response.reasoning_text.*`; either kind of client may refuse the other's word. Default:
   * `reasoning`.
   */
  readonly rawReasoningName?: RawReasoningName;
  /** The request's own fields that a response of the Responses API repeats. */
  readonly echo?: JsonObject;
}

/** For pushes that say nothing to the client. */
export const NO_FRAMES: readonly string[] = [];

/** @param data has no line breaks: JSON never has any */
export function namedFrame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
