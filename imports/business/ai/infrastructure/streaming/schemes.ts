/**
 * The schemes that streams can be read from and written to. A scheme is a wire under the name that streams use for
 * it; supporting another one takes a row here and a folder in `converters`.
 */
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { JsonObject, SchemeName, ServedScheme, VendorName } from '../../domain/types/VendorTypes';
import { anthropicWire } from '../converters/anthropic/anthropicWire';
import { writeAnthropic } from '../converters/anthropic/gateway/AnthropicGateway';
import { AnthropicEncoder } from '../converters/anthropic/stream/AnthropicEncoder';
import { chatCompletionsWire } from '../converters/chat/chatCompletionsWire';
import { writeChatCompletions } from '../converters/chat/gateway/ChatCompletionsGateway';
import { ChatCompletionsEncoder } from '../converters/chat/stream/ChatCompletionsEncoder';
import { writeGoogle } from '../converters/google/gateway/GoogleGateway';
import { googleWire } from '../converters/google/googleWire';
import { GoogleEncoder } from '../converters/google/stream/GoogleEncoder';
import { interactionsWire } from '../converters/interactions/interactionsWire';
import { writeResponses } from '../converters/responses/gateway/ResponsesGateway';
import { responsesWire } from '../converters/responses/responsesWire';
import { ResponsesEncoder } from '../converters/responses/stream/ResponsesEncoder';
import type { StreamEncoder, StreamEncoderOptions } from '../converters/stream/StreamEncoder';
import type { Wire } from '../converters/Wire';

export interface SourceScheme {
  /** Holds the stream decoder. */
  readonly wire: Wire;
  /** The vendor that a stream is attributed to unless the caller names one. */
  readonly vendor: VendorName;
}

export interface Scheme extends SourceScheme {
  readonly Encoder: new (options: StreamEncoderOptions) => StreamEncoder;
  /**
   * Writes a response as the scheme's API returns it without streaming. `echo` holds the request's own fields that
   * the response repeats, where the scheme has that.
   */
  readonly write: (response: LLMResponse, echo?: JsonObject) => JsonObject;
}

export const SCHEMES = {
  openai: {
    wire: chatCompletionsWire,
    vendor: 'openai',
    Encoder: ChatCompletionsEncoder,
    write: (response) => writeChatCompletions(response),
  },
  openai_responses: { wire: responsesWire, vendor: 'openai', Encoder: ResponsesEncoder, write: writeResponses },
  anthropic: {
    wire: anthropicWire,
    vendor: 'anthropic',
    Encoder: AnthropicEncoder,
    write: (response) => writeAnthropic(response),
  },
  google: { wire: googleWire, vendor: 'google', Encoder: GoogleEncoder, write: (response) => writeGoogle(response) },
} as const satisfies Record<ServedScheme, Scheme>;

export const SOURCE_SCHEMES = {
  ...SCHEMES,
  google_interactions: { wire: interactionsWire, vendor: 'google' },
} as const satisfies Record<SchemeName, SourceScheme>;
