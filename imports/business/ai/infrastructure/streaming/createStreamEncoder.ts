/** The encoder of each target scheme. */
import type { SchemeName } from '../../domain/types/VendorTypes';
import { AnthropicEncoder } from '../converters/anthropic/stream/AnthropicEncoder';
import { ChatCompletionsEncoder } from '../converters/chat/stream/ChatCompletionsEncoder';
import { GoogleEncoder } from '../converters/google/stream/GoogleEncoder';
import { ResponsesEncoder } from '../converters/responses/stream/ResponsesEncoder';
import type { StreamEncoderOptions, StreamEncoder } from '../converters/stream/StreamEncoder';

const ENCODERS = {
  openai: ChatCompletionsEncoder,
  openai_responses: ResponsesEncoder,
  anthropic: AnthropicEncoder,
  google: GoogleEncoder,
} as const satisfies Record<SchemeName, new (facts: StreamEncoderOptions) => StreamEncoder>;

export function createStreamEncoder(scheme: SchemeName, facts: StreamEncoderOptions): StreamEncoder {
  return new ENCODERS[scheme](facts);
}
