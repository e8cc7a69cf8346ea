/**
 * xAI's Grok. https://docs.x.ai/docs/api-reference
 *
 * Responses report their cost, which counts; the prices in the table serve estimates.
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import MODELS from './models/grok.json';
import { toModelRows } from './ModelRow';
import type { Vendor } from './Vendor';

export const grok: Vendor = {
  name: 'grok',
  label: VENDOR_LABELS.grok,
  wires: ['chat_completions', 'responses'],
  servesAllWires: true,
  defaultModel: 'grok-4.7',
  currentModels: ['grok-4.7', 'grok-4.6', 'grok-4.5', 'grok-4.3', 'grok-4.20', 'grok-build-0.1'],
  baseURL: 'https://api.x.ai/v1',
  // For 30 days: https://docs.x.ai/docs/guides/responses-api
  storesResponses: true,
  // https://docs.x.ai/developers/tools/remote-mcp
  hostedMcp: { wire: 'responses', sendsHeaders: true, omitsApproval: true },
  quirks: {
    maxTokensField: 'max_completion_tokens',
    completionTokensExcludeReasoning: true,
    maxStopSequences: 4,
    imagesInToolOutput: true,
    // Recorded with grok-2 to grok-4: https://github.com/agentjido/req_llm/tree/main/test/support/fixtures/xai
    acceptsStrictOptionals: true,
    reasoningEfforts: ['low', 'medium', 'high'],
    // https://docs.x.ai/docs/guides/reasoning
    modelRules: [
      // Reasoning models respond to these fields with an error.
      {
        models: '^grok-(?!.*non-reasoning)(3-mini|4|code)',
        quirks: { unsupportedFields: ['stop', 'presence_penalty', 'frequency_penalty'] },
      },
      // Models that don't reason, or whose reasoning effort is fixed.
      {
        models: '^grok-(2|3(?!-mini)|4($|-)|4\\.20(?!.*multi-agent)|code)',
        quirks: { unsupportedFields: ['reasoning_effort'] },
      },
      { models: '^grok-3-mini', quirks: { reasoningEfforts: ['low', 'high'] } },
      { models: '^grok-4\\.3', quirks: { reasoningEfforts: ['none', 'low', 'medium', 'high'] } },
    ],
  },
  modelPatterns: [/^grok-/i],
  variables: { key: 'XAI_API_KEY', model: 'XAI_MODEL', baseURL: 'XAI_BASE_URL', wire: 'XAI_WIRE' },
  models: toModelRows(MODELS),
};
