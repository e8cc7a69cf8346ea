/** How each vendor departs from its wire, as data: a row takes these, and its settings may say otherwise. */
import type { ModelRule, VendorName, VendorQuirks } from '../../domain/types/VendorTypes';

export const DEFAULT_QUIRKS: VendorQuirks = {
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  allowsNullFinishReason: false,
  supportsStreamUsage: true,
  completionTokensExcludeReasoning: false,
  structuredOutput: 'json_schema',
  supportsStrictTools: true,
  supportsParallelToolCalls: true,
  fetchesImageUrls: true,
  unsupportedFields: [],
};

/** https://docs.x.ai/docs/guides/reasoning */
const GROK_MODELS: readonly ModelRule[] = [
  // An error on models that reason.
  {
    models: '^grok-(?!.*non-reasoning)(3-mini|4|code)',
    quirks: { unsupportedFields: ['stop', 'presence_penalty', 'frequency_penalty'] },
  },
  // Models that don't reason, or reason without a dial for it.
  {
    models: '^grok-(2|3(?!-mini)|4($|-)|4\\.20(?!.*multi-agent)|code)',
    quirks: { unsupportedFields: ['reasoning_effort'] },
  },
  { models: '^grok-3-mini', quirks: { reasoningEfforts: ['low', 'high'] } },
  { models: '^grok-4\\.3', quirks: { reasoningEfforts: ['none', 'low', 'medium', 'high'] } },
];

const GROQ_MODELS: readonly ModelRule[] = [
  // https://console.groq.com/docs/structured-outputs
  { models: '^openai/gpt-oss', quirks: { supportsStrictSchemas: true } },
  // https://console.groq.com/docs/structured-outputs
  { models: '^(openai/gpt-oss|moonshotai/kimi-k2|meta-llama/llama-4)', quirks: { structuredOutput: 'json_schema' } },
  // https://console.groq.com/docs/browser-search
  {
    models: '^openai/gpt-oss',
    quirks: {
      builtInTools: {
        web_search: { as: 'tool', type: 'browser_search' },
        code_interpreter: { as: 'tool', type: 'code_interpreter' },
      },
    },
  },
  // https://console.groq.com/docs/compound/built-in-tools
  {
    models: '^(groq/)?compound',
    quirks: {
      builtInTools: {
        web_search: { as: 'enabled_tool', name: 'web_search' },
        web_fetch: { as: 'enabled_tool', name: 'visit_website' },
        code_interpreter: { as: 'enabled_tool', name: 'code_interpreter' },
      },
    },
  },
];

/** https://console.groq.com/docs/openai for the fields that are refused; the others are in the types of groq-sdk. */
const GROQ: Partial<VendorQuirks> = {
  maxTokensField: 'max_completion_tokens',
  // Usage comes unasked, in `x_groq` of the last chunk.
  supportsStreamUsage: false,
  structuredOutput: 'json_object',
  supportsStrictSchemas: false,
  // "json mode cannot be combined with tool/function calling"
  structuredOutputWithTools: 'none',
  unsupportedFields: ['logprobs', 'top_logprobs', 'logit_bias', 'metadata', 'store'],
  messageFields: ['role', 'content', 'tool_calls', 'tool_call_id', 'function_call', 'reasoning'],
  maxStopSequences: 4,
  acceptsFiles: false,
  reasoningEfforts: ['none', 'default', 'low', 'medium', 'high'],
  modelRules: GROQ_MODELS,
};

export const QUIRKS: Record<VendorName, Partial<VendorQuirks>> = {
  openai: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    maxStopSequences: 4,
    maxCallIdLength: 40,
    supportsAllowedTools: true,
    metadataNeedsStore: true,
    modelRules: [
      // https://platform.openai.com/docs/guides/tools-web-search?api-mode=chat
      { models: '-search-(preview|api)', quirks: { builtInTools: { web_search: { as: 'web_search_options' } } } },
    ],
  },
  azure_openai: {
    maxTokensField: 'max_completion_tokens',
    maxStopSequences: 4,
    maxCallIdLength: 40,
    metadataNeedsStore: true,
  },
  anthropic: {},
  google: { fetchesImageUrls: false },
  grok: {
    maxTokensField: 'max_completion_tokens',
    completionTokensExcludeReasoning: true,
    maxStopSequences: 4,
    imagesInToolOutput: true,
    reasoningEfforts: ['low', 'medium', 'high'],
    modelRules: GROK_MODELS,
  },
  groq: GROQ,
  llama: GROQ,
  // Hosts that copy OpenAI copy its limit; ids within it are sent as they are.
  openai_compatible: { maxCallIdLength: 40 },
};
