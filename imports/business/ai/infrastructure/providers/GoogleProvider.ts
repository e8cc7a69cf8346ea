/** Google's Gemini API. https://ai.google.dev/api/generate-content */
import { GoogleClient } from '../clients/GoogleClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class GoogleProvider extends BaseLLMProvider {
  static createClient(options: ClientOptions): VendorClient {
    return new GoogleClient(options);
  }
}
