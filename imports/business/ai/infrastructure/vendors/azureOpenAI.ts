/** OpenAI models on Azure. https://learn.microsoft.com/azure/ai-foundry/openai/reference */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import { grok } from './grok';
import { openai } from './openai';
import { OPEN_MODELS } from './openModels';
import type { Vendor } from './Vendor';

export const azureOpenAI: Vendor = {
  name: 'azure_openai',
  label: VENDOR_LABELS.azure_openai,
  wires: ['responses', 'chat_completions'],
  servesAllWires: true,
  storesResponses: true,
  quirks: {
    maxTokensField: 'max_completion_tokens',
    maxStopSequences: 4,
    maxCallIdLength: 40,
    metadataNeedsStore: true,
  },
  models: [],
  // A deployment can have any name; one that doesn't contain its model's needs a model row in the settings.
  foreignModels: [...openai.models, ...grok.models, ...OPEN_MODELS],
  modelPatterns: [],
  variables: {
    key: 'AZURE_OPENAI_KEY',
    baseURL: 'AZURE_OPENAI_BASE_URL',
    deployment: 'AZURE_OPENAI_DEPLOYMENT',
    apiVersion: 'AZURE_OPENAI_API_VERSION',
  },
};
