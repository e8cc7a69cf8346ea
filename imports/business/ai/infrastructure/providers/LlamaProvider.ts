/**
 * Llama and other open models on Groq, by Groq's SDK; with a base URL, on any host that speaks Chat Completions.
 * https://console.groq.com/docs
 */
import { GroqClient } from '../clients/GroqClient';
import type { VendorFacts } from './BaseLLMProvider';
import { OpenAICompatibleProvider } from './OpenAICompatibleProvider';

export class LlamaProvider extends OpenAICompatibleProvider {
  static override readonly facts: VendorFacts = {
    wires: ['chat_completions'],
    defaultModel: 'llama-3.3-70b-versatile',
    createClient: (options) =>
      options.vendor === 'llama' && options.baseURL !== undefined
        ? OpenAICompatibleProvider.facts.createClient(options)
        : new GroqClient(options),
  };
}
