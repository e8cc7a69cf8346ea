/** Google's Gemini API. https://ai.google.dev/api/generate-content */
import { GoogleClient } from '../clients/GoogleClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { VendorFacts } from './BaseLLMProvider';

export class GoogleProvider extends BaseLLMProvider {
  static readonly facts: VendorFacts = {
    wires: ['gemini'],
    defaultModel: 'gemini-3.5-flash',
    createClient: (options) => new GoogleClient(options),
  };
}
