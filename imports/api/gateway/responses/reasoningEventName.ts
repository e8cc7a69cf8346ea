/**
 * What the events of raw reasoning are called. Open Responses has one word, OpenAI another, and OpenAI's own SDK
 * breaks off at a `response.reasoning.delta`; so its clients, who name themselves, get the word that they know.
 */
import type { IncomingMessage } from 'node:http';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';

export function reasoningEventName({ headers }: Pick<IncomingMessage, 'headers'>): RawReasoningName {
  return OPENAI_SDK.test(headers['user-agent'] ?? '') ? 'reasoning_text' : 'reasoning';
}

/** `OpenAI/JS 7.55.0`, `AsyncOpenAI/Python 2.1.0`, `AzureOpenAI/JS …`. */
const OPENAI_SDK = /^(?:Async)?(?:Azure)?OpenAI\/\w+ \d/;
