/** OpenAI's own API. https://platform.openai.com/docs/api-reference */
import { OpenAIClient } from '../clients/OpenAIClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class OpenAIProvider extends BaseLLMProvider {
  static createClient({ wire, ...options }: ClientOptions): VendorClient {
    return new OpenAIClient({ ...options, wire: wire === 'chat_completions' ? wire : 'responses' });
  }
}
