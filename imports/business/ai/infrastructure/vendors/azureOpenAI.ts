/** OpenAI models on Azure. https://learn.microsoft.com/azure/ai-foundry/openai/reference */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import { grok } from './grok';
import { FIXED_SAMPLING, openai } from './openai';
import { OPEN_MODELS } from './openModels';
import type { Vendor, VendorAddress } from './Vendor';

export const azureOpenAI: Vendor = {
  name: 'azure_openai',
  label: VENDOR_LABELS.azure_openai,
  wires: ['responses', 'chat_completions'],
  servesAllWires: true,
  wiresAt,
  requiresBaseURL: true,
  embeddingBatch: { inputs: 2_048, tokens: 300_000 },
  storesResponses: true,
  compaction: { wire: 'responses' },
  // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
  hostedMcp: { wire: 'responses', sendsHeaders: true },
  quirks: {
    maxTokensField: 'max_completion_tokens',
    maxStopSequences: 4,
    maxCallIdLength: 40,
    enforcesSingleCalls: true,
    supportsToolNamespaces: true,
    supportsProgrammaticTools: true,
    supportsCustomTools: true,
    // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses#remote-mcp-servers
    nativeTools: { mcp_approval: '' },
    supportsBackground: true,
    metadataNeedsStore: true,
    promptCache: 'key',
    modelRules: [FIXED_SAMPLING],
  },
  models: [],
  // A deployment can have any name; one that doesn't contain its model's needs a model row in the settings.
  foreignModels: [...openai.models, ...grok.models, ...OPEN_MODELS],
  modelPatterns: [],
  variables: {
    key: 'AZURE_OPENAI_KEY',
    // https://github.com/openai/openai-node/blob/master/src/azure.ts
    sdkKey: 'AZURE_OPENAI_API_KEY',
    baseURL: 'AZURE_OPENAI_BASE_URL',
    deployment: 'AZURE_OPENAI_DEPLOYMENT',
    apiVersion: 'AZURE_OPENAI_API_VERSION',
    wire: 'AZURE_OPENAI_WIRE',
  },
};

/** The first version with the Responses API is 2025-03-01-preview; `v1`, `preview` and no version have it too. */
const FIRST_DATE_WITH_RESPONSES = '2025-03-01';

/**
 * A deployment's own address and Foundry's `/models` serve Chat Completions only, with any version.
 * https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
function wiresAt({ baseURL = '', apiVersion = '' }: VendorAddress): Vendor['wires'] {
  const [date = FIRST_DATE_WITH_RESPONSES] = /^\d{4}-\d{2}-\d{2}/.exec(apiVersion) ?? [];
  const isChatOnly = date < FIRST_DATE_WITH_RESPONSES || /\/(?:deployments\/[^/]+|models)\/*$/.test(baseURL);
  return isChatOnly ? ['chat_completions'] : ['responses', 'chat_completions'];
}
