/** Any API that speaks OpenAI's wires at a base URL of its own: Ollama, vLLM, Together, Cerebras, … */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { OpenAIClient } from '../clients/OpenAIClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class OpenAICompatibleProvider extends BaseLLMProvider {
  static createClient({ wire, ...options }: ClientOptions): VendorClient {
    if (options.baseURL === undefined)
      throw new LLMInvalidRequestError('An OpenAI-compatible provider needs a base URL.', { path: 'baseURL' });
    return new OpenAIClient({ ...options, wire: wire === 'responses' ? wire : 'chat_completions' });
  }
}
