/**
 * The name of raw reasoning events for a client. OpenAI's SDK fails at `response.reasoning.delta`, the name in Open
 * Responses, so it gets OpenAI's name; it is recognized by its user agent.
 */
import type { IncomingMessage } from 'node:http';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';

export function reasoningEventName({ headers }: Pick<IncomingMessage, 'headers'>): RawReasoningName {
  return OPENAI_SDK.test(headers['user-agent'] ?? '') ? 'reasoning_text' : 'reasoning';
}

/** `OpenAI/JS 7.55.0`, `AsyncOpenAI/Python 2.1.0`, `AzureOpenAI/JS …`. */
const OPENAI_SDK = /^(?:Async)?(?:Azure)?OpenAI\/\w+ \d/;
