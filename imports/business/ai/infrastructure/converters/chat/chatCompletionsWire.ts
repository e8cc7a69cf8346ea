/** The chat completions wire as providers and streams see it. */
import { ChatCompletionsDecoder } from './stream/ChatCompletionsDecoder';
import { fromChatCompletions, toChatCompletions } from './ChatCompletionsConverter';
import type { Wire } from '../Wire';

export const chatCompletionsWire: Wire = {
  name: 'chat_completions',
  toRequest: toChatCompletions,
  fromResponse: fromChatCompletions,
  createDecoder: (context) => new ChatCompletionsDecoder(context),
  // The wire has no word for a file's URL.
  fetchesUrl: (part, quirks) => part.type === 'input_image' && quirks.fetchesImageUrls,
};
