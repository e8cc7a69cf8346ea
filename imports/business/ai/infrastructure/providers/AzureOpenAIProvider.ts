/**
 * OpenAI models on Azure: the deployment's name stands for the model.
 * https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { OpenAIClient } from '../clients/OpenAIClient';
import { BaseLLMProvider } from './BaseLLMProvider';
import type { VendorFacts } from './BaseLLMProvider';

export class AzureOpenAIProvider extends BaseLLMProvider {
  static readonly facts: VendorFacts = {
    wires: ['responses', 'chat_completions'],
    speaksAll: true,
    createClient: ({ wire, deployment, apiVersion, ...options }) => {
      if (options.baseURL === undefined)
        throw new LLMInvalidRequestError('an Azure provider needs the URL of its resource', { path: 'baseURL' });
      return new OpenAIClient({
        ...options,
        wire: wire === 'chat_completions' ? wire : 'responses',
        azure: { deployment, apiVersion },
      });
    },
  };
}
