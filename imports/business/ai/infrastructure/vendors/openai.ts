/**
 * OpenAI. https://platform.openai.com/docs/api-reference
 *
 * `supportsAsyncTools`: `async: true` on a function lets the model continue before the output is there; the output
 * follows later under the call's own id. Responses wire only, from GPT-6 on:
 * https://developers.openai.com/api/docs/guides/async-tool-calling
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import MODELS from './models/openai.json';
import { toModelRows } from './ModelRow';
import type { ModelRule } from '../../domain/types/VendorTypes';
import type { Vendor } from './Vendor';

const GPT_5_1_AND_LATER = 'gpt-(?:5\\.[1-9]|[6-9])';

/**
 * Reasoning models before GPT-5.1 refuse to be sampled otherwise than by default. Names of Azure's deployments go on as
 * they like, and have a dash where a version has a dot.
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning#not-supported
 */
export const FIXED_SAMPLING: ModelRule = {
  models: '^(?:ft:)?(?:o\\d|codex-mini|gpt-5(?![.\\d]|-(?:chat|search|\\d(?!\\d))))',
  quirks: { fixedSampling: true },
};

export const openai: Vendor = {
  name: 'openai',
  label: VENDOR_LABELS.openai,
  wires: ['responses', 'chat_completions'],
  servesAllWires: true,
  defaultModel: 'gpt-5.4-mini',
  currentModels: [
    'gpt-6-astra',
    'gpt-6.1-sol',
    'gpt-6.1-terra',
    'gpt-6-luna',
    'gpt-5.6-sol',
    'gpt-5.6-terra',
    'gpt-5.6-luna',
    'gpt-5.5',
    'gpt-5.4',
    'gpt-5.4-mini',
    'gpt-5.4-nano',
    'o3',
    'o4-mini',
    'gpt-4.1',
    'gpt-4o-mini',
  ],
  embeddingModel: 'text-embedding-3-small',
  // https://platform.openai.com/docs/api-reference/embeddings/create
  embeddingBatch: { inputs: 2_048, tokens: 300_000 },
  baseURL: 'https://api.openai.com/v1',
  // https://developers.openai.com/api/docs/guides/your-data
  regionalURLs: /^https:\/\/([a-z]{2})\.api\.openai\.com(?:\/|$)/,
  storesResponses: true,
  // https://developers.openai.com/api/docs/guides/compaction
  compaction: { wire: 'responses' },
  // https://platform.openai.com/docs/guides/tools-remote-mcp
  hostedMcp: { wire: 'responses', sendsHeaders: true },
  quirks: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    maxStopSequences: 4,
    // "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40":
    // https://github.com/microsoft/autogen/issues/6377
    maxCallIdLength: 40,
    // Unlike Azure: https://github.com/openai/openai-agents-python/issues/4390
    // Recorded: https://github.com/braintrustdata/lingua/tree/main/payloads/snapshots/jsonSchemaPrefixItemsParam
    strictKeywords: ['default', 'prefixItems'],
    supportsAllowedTools: true,
    // https://platform.openai.com/docs/guides/function-calling#parallel-function-calling
    enforcesSingleCalls: true,
    supportsToolNamespaces: true,
    supportsProgrammaticTools: true,
    supportsCustomTools: true,
    nativeTools: {
      mcp_approval: '',
      // https://developers.openai.com/api/docs/guides/tools-shell, …/tools-apply-patch
      shell: GPT_5_1_AND_LATER,
      apply_patch: GPT_5_1_AND_LATER,
      // https://developers.openai.com/api/docs/guides/tools-computer-use
      computer: 'gpt-(?:5\\.[4-9]|[6-9])|computer-use-preview',
    },
    // "Only gpt-5.4 and later models support tool_search": https://developers.openai.com/api/docs/guides/tools
    additionalTools: '^(?:ft:)?gpt-(?:5\\.[4-9]|[6-9])',
    supportsBackground: true,
    metadataNeedsStore: true,
    promptCache: 'key',
    // "Supported for `gpt-5.6` and later models": `PromptCacheOptions` in openai.d.ts
    promptCacheBreakpoints: '^(?:ft:)?gpt-(?:5\\.[6-9]|[6-9])',
    modelRules: [
      FIXED_SAMPLING,
      // https://platform.openai.com/docs/guides/tools-web-search?api-mode=chat
      { models: '-search-(preview|api)', quirks: { builtInTools: { web_search: { as: 'web_search_options' } } } },
    ],
  },
  // https://platform.openai.com/docs/models. gpt-oss is served by other vendors only.
  modelPatterns: [
    /^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|computer-use-|o\d)/i,
    /^(?:text-embedding-(?:3-|ada-)|dall-e-|tts-1|whisper-1$|(?:omni|text)-moderation-)/i,
  ],
  variables: {
    key: 'OPENAI_API_KEY',
    model: 'OPENAI_MODEL',
    baseURL: 'OPENAI_API_BASE',
    sdkBaseURL: 'OPENAI_BASE_URL',
    wire: 'OPENAI_WIRE',
  },
  models: toModelRows(MODELS),
};
