/** The Anthropic Messages API as a `Wire`. */
import { anthropicSlices, fromAnthropic } from './AnthropicConverter';
import { anthropicFoundTools } from './foundTools';
import { anthropicModelFeatures } from './modelFeatures';
import { anthropicForms } from './nativeTools';
import { createAnthropicDecoder } from './stream/AnthropicDecoder';
import type { Wire } from '../Wire';

export const anthropicWire: Wire = {
  name: 'anthropic_messages',
  toRequest: anthropicSlices,
  fromResponse: (body, context) => fromAnthropic(body, context),
  createDecoder: createAnthropicDecoder,
  nativeForms: (model) => anthropicForms(anthropicModelFeatures(model)),
  foundTools: (model) => anthropicFoundTools(anthropicModelFeatures(model)),
  fetchesUrl: (_part, quirks) => quirks.fetchesImageUrls,
};
