/**
 * Llama and other open models: on Groq through Groq's SDK, or behind any Chat Completions API.
 * https://console.groq.com/docs
 */
import { GroqClient } from '../clients/GroqClient';
import type { VendorClient } from '../clients/VendorClient';
import type { ClientOptions } from './BaseLLMProvider';
import { OpenAICompatibleProvider } from './OpenAICompatibleProvider';

export class LlamaProvider extends OpenAICompatibleProvider {
  static override createClient(options: ClientOptions): VendorClient {
    return options.vendor === 'llama' && options.baseURL !== undefined
      ? OpenAICompatibleProvider.createClient(options)
      : new GroqClient(options);
  }
}
