/** xAI's Grok. https://docs.x.ai/docs/api-reference */
import type { VendorFacts } from './BaseLLMProvider';
import { OpenAICompatibleProvider } from './OpenAICompatibleProvider';

export class GrokProvider extends OpenAICompatibleProvider {
  static override readonly facts: VendorFacts = {
    ...OpenAICompatibleProvider.facts,
    speaksAll: true,
    defaultModel: 'grok-4.7',
    createClient: ({ baseURL = 'https://api.x.ai/v1', ...options }) =>
      OpenAICompatibleProvider.facts.createClient({ ...options, baseURL }),
  };
}
