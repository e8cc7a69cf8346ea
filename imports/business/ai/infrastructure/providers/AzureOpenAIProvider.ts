/**
 * OpenAI models on Azure, where a deployment's name stands for the model.
 * https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { OpenAIClient } from '../clients/OpenAIClient';
import type { VendorClient } from '../clients/VendorClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { ClientOptions } from './BaseLLMProvider';

export class AzureOpenAIProvider extends BaseLLMProvider {
  static createClient({ wire, deployment, apiVersion, ...options }: ClientOptions): VendorClient {
    if (options.baseURL === undefined)
      throw new LLMInvalidRequestError('An Azure OpenAI provider needs the URL of its resource.', { path: 'baseURL' });
    return new OpenAIClient({
      ...options,
      wire: wire === 'chat_completions' ? wire : 'responses',
      azure: { deployment, apiVersion },
    });
  }
}
