/** The chat completions wire as providers and streams see it. */
import { ChatCompletionsDecoder } from './ChatCompletionsDecoder';
import { fromChatCompletions, toChatCompletions } from '../converters/ChatCompletionsConverter';
import type { Wire } from '../converters/Wire';

export const chatCompletionsWire: Wire = {
  name: 'chat_completions',
  toRequest: toChatCompletions,
  fromResponse: fromChatCompletions,
  createDecoder: (context) => new ChatCompletionsDecoder(context),
  // The wire has no word for a file's URL.
  fetchesUrl: (part, quirks) => part.type === 'input_image' && quirks.fetchesImageUrls,
};
