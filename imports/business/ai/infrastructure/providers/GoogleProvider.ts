/** Google's Gemini API. https://ai.google.dev/api/generate-content, https://ai.google.dev/api/interactions-api */
import { GoogleClient } from '../clients/GoogleClient';
import { InteractionsClient } from '../clients/InteractionsClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class GoogleProvider extends BaseLLMProvider {
  static createClient({ wire, ...options }: ClientOptions): VendorClient {
    const client = new GoogleClient(options);
    return wire === 'interactions' ? new InteractionsClient(options, client) : client;
  }
}
