/** Anthropic's Messages API. https://docs.anthropic.com/en/api/messages */
import { AnthropicClient } from '../clients/AnthropicClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class AnthropicProvider extends BaseLLMProvider {
  static createClient(options: ClientOptions): VendorClient {
    return new AnthropicClient(options);
  }
}
