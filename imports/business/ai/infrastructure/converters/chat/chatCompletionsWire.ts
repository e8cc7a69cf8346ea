/** The chat completions wire. https://platform.openai.com/docs/api-reference/chat */
import { ChatCompletionsDecoder } from './stream/ChatCompletionsDecoder';
import { customForms } from '../shared/customForms';
import { chatCompletionsSlices, fromChatCompletions } from './ChatCompletionsConverter';
import { isSentAsItCame } from './contentParts';
import { vendorFieldsOf } from './vendorFields';
import type { Wire } from '../Wire';

export const chatCompletionsWire: Wire = {
  name: 'chat_completions',
  toRequest: chatCompletionsSlices,
  fromResponse: fromChatCompletions,
  createDecoder: (context) => new ChatCompletionsDecoder(context),
  nativeForms: (_model, quirks) => customForms(quirks),
  // The wire has no field for the URL of a file. A part of a vendor's own is sent as it came.
  fetchesUrl: (part, quirks) =>
    part.type === 'input_image'
      ? quirks.fetchesImageUrls
      : quirks.fetchesFileUrls === true || isSentAsItCame(vendorFieldsOf(part), quirks),
};
