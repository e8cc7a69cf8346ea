/** The recorded traffic of the chat wire, and contexts to convert it with. */
import { hasRequest, modelOf, recordingsOf, sseMessages } from './recordings';
import { contextOf, withResponseFields } from './wireContexts';
import type { RequestRecording, Recording } from './recordings';
import { normalizeOptions } from '../../imports/business/ai/application/services/ContentNormalizer';
import { readChatCompletionsRequest } from '../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { fromChatCompletions } from '../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import type {
  ResponseContext,
  SseMessage,
  WireContext,
} from '../../imports/business/ai/infrastructure/converters/Wire';
import { ChatCompletionsDecoder } from '../../imports/business/ai/infrastructure/converters/chat/stream/ChatCompletionsDecoder';
import type { NormalizedOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject, VendorName, VendorQuirks } from '../../imports/business/ai/domain/types/VendorTypes';

export const CHAT = recordingsOf('chat_completions');
export const CHAT_RESPONSES = CHAT.filter(({ status, stream }) => status === 200 && !stream);
export const CHAT_STREAMS = CHAT.filter(({ stream }) => stream);
export const CHAT_REQUESTS = CHAT.filter(hasRequest);

export function chatContext(vendor: VendorName = 'openai', quirks: Partial<VendorQuirks> = {}): WireContext {
  return contextOf(vendor, { quirks });
}

export function chatResponseContext(
  vendor: VendorName = 'openai',
  changes: Partial<ResponseContext> = {},
): ResponseContext {
  return withResponseFields(chatContext(vendor), changes);
}

export function responseContextFor(one: Recording): ResponseContext {
  return chatResponseContext(one.vendor, { model: modelOf(one) });
}

/** The options that the gateway reads from the recorded request. Azure has the model in its path. */
export function requestOptions(one: RequestRecording): NormalizedOptions {
  const { stream: _, ...options } = readChatCompletionsRequest(one.request);
  return normalizeOptions({ model: modelOf(one), ...options });
}

export function decodeEvents(
  messages: readonly SseMessage[],
  context: ResponseContext,
): readonly ResponseStreamEvent[] {
  const decoder = new ChatCompletionsDecoder(context);
  const out: ResponseStreamEvent[] = [];
  for (const message of messages) decoder.push(message, out);
  decoder.end(out);
  return out;
}

/** The chunks as messages of one stream, with the end marker. */
export function streamOf(...chunks: readonly (JsonObject | string)[]): readonly SseMessage[] {
  return [
    ...chunks.map((chunk) => ({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })),
    { data: '[DONE]' },
  ];
}

export function responseIn(events: readonly ResponseStreamEvent[]): LLMResponse {
  const last = events.at(-1);
  if (last?.type !== 'response.completed') throw new Error(`The last event is ${last?.type ?? 'missing'}.`);
  return last.response;
}

/** The recorded response, streamed or not. */
export function responseOf(one: Recording): LLMResponse {
  return one.stream
    ? responseIn(decodeEvents(sseMessages(one.text), responseContextFor(one)))
    : fromChatCompletions(JSON.parse(one.text), responseContextFor(one));
}
