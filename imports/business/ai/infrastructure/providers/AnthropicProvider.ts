/** Anthropic's Messages API. https://docs.anthropic.com/en/api/messages */
import { AnthropicClient } from '../clients/AnthropicClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { VendorFacts } from './BaseLLMProvider';

export class AnthropicProvider extends BaseLLMProvider {
  static readonly facts: VendorFacts = {
    wires: ['anthropic_messages'],
    defaultModel: 'claude-sonnet-5-5',
    createClient: (options) => new AnthropicClient(options),
  };
}
