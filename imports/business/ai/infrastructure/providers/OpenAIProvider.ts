/** OpenAI's own API. https://platform.openai.com/docs/api-reference */
import { OpenAIClient } from '../clients/OpenAIClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { VendorFacts } from './BaseLLMProvider';

export class OpenAIProvider extends BaseLLMProvider {
  static readonly facts: VendorFacts = {
    wires: ['responses', 'chat_completions'],
    speaksAll: true,
    defaultModel: 'gpt-5.4-mini',
    createClient: ({ wire, ...options }) =>
      new OpenAIClient({ ...options, wire: wire === 'chat_completions' ? wire : 'responses' }),
  };
}
