/** The schemes that streams are read and written in: each is a wire under the name that streams use for it. */
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { JsonObject, SchemeName, VendorName } from '../../domain/types/VendorTypes';
import { writeAnthropic } from '../converters/anthropic/gateway/AnthropicGateway';
import { writeChatCompletions } from '../converters/chat/gateway/ChatCompletionsGateway';
import { writeGoogle } from '../converters/google/gateway/GoogleGateway';
import { writeResponses } from '../converters/responses/gateway/ResponsesGateway';
import type { Wire } from '../converters/Wire';
import { anthropicWire } from '../converters/anthropic/anthropicWire';
import { chatCompletionsWire } from '../converters/chat/chatCompletionsWire';
import { googleWire } from '../converters/google/googleWire';
import { responsesWire } from '../converters/responses/responsesWire';

export interface Scheme {
  readonly wire: Wire;
  /** Whose stream it is when nobody says. */
  readonly vendor: VendorName;
  /**
   * An answer without streaming. `echo` holds the request's own fields that a response repeats, where the scheme
   * has that.
   */
  readonly write: (response: LLMResponse, echo?: JsonObject) => JsonObject;
}

export const SCHEMES = {
  openai: { wire: chatCompletionsWire, vendor: 'openai', write: (response) => writeChatCompletions(response) },
  openai_responses: { wire: responsesWire, vendor: 'openai', write: writeResponses },
  anthropic: { wire: anthropicWire, vendor: 'anthropic', write: (response) => writeAnthropic(response) },
  google: { wire: googleWire, vendor: 'google', write: (response) => writeGoogle(response) },
} as const satisfies Record<SchemeName, Scheme>;
