/** The encoder of each target scheme. */
import type { SchemeName } from '../../domain/types/VendorTypes';
import { AnthropicEncoder } from '../converters/anthropic/stream/AnthropicEncoder';
import { ChatCompletionsEncoder } from '../converters/chat/stream/ChatCompletionsEncoder';
import { GoogleEncoder } from '../converters/google/stream/GoogleEncoder';
import { ResponsesEncoder } from '../converters/responses/stream/ResponsesEncoder';
import type { EncoderFacts, StreamEncoder } from '../converters/stream/StreamEncoder';

const ENCODERS = {
  openai: ChatCompletionsEncoder,
  openai_responses: ResponsesEncoder,
  anthropic: AnthropicEncoder,
  google: GoogleEncoder,
} as const satisfies Record<SchemeName, new (facts: EncoderFacts) => StreamEncoder>;

export function createStreamEncoder(scheme: SchemeName, facts: EncoderFacts): StreamEncoder {
  return new ENCODERS[scheme](facts);
}
