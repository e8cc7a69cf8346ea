/** The chat completions wire. https://platform.openai.com/docs/api-reference/chat */
import { ChatCompletionsDecoder } from './stream/ChatCompletionsDecoder';
import { fromChatCompletions, toChatCompletions } from './ChatCompletionsConverter';
import type { Wire } from '../Wire';

export const chatCompletionsWire: Wire = {
  name: 'chat_completions',
  toRequest: toChatCompletions,
  fromResponse: fromChatCompletions,
  createDecoder: (context) => new ChatCompletionsDecoder(context),
  // The wire has no field for the URL of a file.
  fetchesUrl: (part, quirks) => part.type === 'input_image' && quirks.fetchesImageUrls,
};
