/** Any host that speaks Chat Completions: Ollama, vLLM, Together, Cerebras, … Its departures are quirks in its row. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { OpenAIClient } from '../clients/OpenAIClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { VendorFacts } from './BaseLLMProvider';

export class OpenAICompatibleProvider extends BaseLLMProvider {
  static readonly facts: VendorFacts = {
    wires: ['chat_completions', 'responses'],
    createClient: ({ wire, ...options }) => {
      if (options.baseURL === undefined)
        throw new LLMInvalidRequestError('a compatible host needs its base URL', { path: 'baseURL' });
      return new OpenAIClient({ ...options, wire: wire === 'responses' ? wire : 'chat_completions' });
    },
  };
}
