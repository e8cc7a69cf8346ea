/**
 * Groq, which serves open models. https://console.groq.com/docs
 *
 * Models: https://console.groq.com/docs/models, https://console.groq.com/docs/structured-outputs; models that Groq has
 * dropped from https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02) and its history.
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import { NO_SCHEMA, NO_TOOLS, price, REASONS, row, TEXT_ONLY } from './ModelRow';
import type { ModelRow } from './ModelRow';
import { OPEN_MODELS } from './openModels';
import type { Vendor } from './Vendor';

const LISTED = '2026-07-02';
/** The day on which the source dropped the older models. */
const RETIRED = '2026-06-10';
const TEXT_WITHOUT_SCHEMA: Omit<ModelRow, 'models'> = { ...TEXT_ONLY, ...NO_SCHEMA };
const IMAGES_ONLY: Omit<ModelRow, 'models'> = { supportsFiles: false };

export const groq: Vendor = {
  name: 'groq',
  label: VENDOR_LABELS.groq,
  wires: ['chat_completions'],
  defaultModel: 'llama-3.3-70b-versatile',
  currentModels: [
    'llama-3.3-70b-versatile',
    'llama-3.1-8b-instant',
    'openai/gpt-oss-120b',
    'openai/gpt-oss-20b',
    'meta-llama/llama-4-scout-17b-16e-instruct',
    'qwen/qwen3-32b',
  ],
  baseURL: 'https://api.groq.com',
  storesResponses: false,
  // https://console.groq.com/docs/openai lists the fields that Groq rejects; the others are in the types of groq-sdk.
  quirks: {
    maxTokensField: 'max_completion_tokens',
    // Usage is always sent, in `x_groq` of the last chunk.
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
    modelRules: [
      // https://console.groq.com/docs/structured-outputs
      { models: '^openai/gpt-oss', quirks: { supportsStrictSchemas: true } },
      // https://console.groq.com/docs/structured-outputs
      {
        models: '^(openai/gpt-oss|moonshotai/kimi-k2|meta-llama/llama-4)',
        quirks: { structuredOutput: 'json_schema' },
      },
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
    ],
  },
  // https://console.groq.com/docs/reasoning
  reasoningField: 'reasoning',
  foreignModels: OPEN_MODELS,
  // https://console.groq.com/docs/models
  modelPatterns: [/^(?:llama-|meta-llama\/|openai\/gpt-oss|moonshotai\/|qwen\/|groq\/|canopylabs\/)/i],
  variables: { key: 'GROQ_API_KEY', model: 'GROQ_MODEL', baseURL: 'GROQ_BASE_URL' },
  models: [
    {
      models: '(?:llama|prompt)-guard|safeguard',
      maxTokens: 8_192,
      maxOutputTokens: 1_024,
      ...TEXT_WITHOUT_SCHEMA,
      ...NO_TOOLS,
    },
    // A system that calls its own tools and accepts no others.
    row('compound(-beta)?(-mini)?', 131_072, 8_192, { ...TEXT_WITHOUT_SCHEMA, ...NO_TOOLS }),
    row('gpt-oss-120b', 131_072, 65_536, { ...REASONS, ...TEXT_ONLY, ...price(LISTED, 0.15, 0.6, 0.075) }),
    row('gpt-oss-20b', 131_072, 65_536, { ...REASONS, ...TEXT_ONLY, ...price(LISTED, 0.075, 0.3, 0.0375) }),
    row('llama-3\\.1-8b-instant', 131_072, 131_072, { ...TEXT_WITHOUT_SCHEMA, ...price(LISTED, 0.05, 0.08) }),
    row('llama-3\\.3-70b-versatile', 131_072, 32_768, { ...TEXT_WITHOUT_SCHEMA, ...price(LISTED, 0.59, 0.79) }),
    row('llama-4-scout-17b-16e-instruct', 131_072, 8_192, { ...IMAGES_ONLY, ...price(LISTED, 0.11, 0.34) }),
    row('llama-4-maverick-17b-128e-instruct', 131_072, 8_192, { ...IMAGES_ONLY, ...price(RETIRED, 0.2, 0.6) }),
    row('kimi-k2-instruct-0905', 262_144, 16_384, { ...TEXT_ONLY, ...price(RETIRED, 1, 3, 0.5) }),
    row('kimi-k2-instruct', 131_072, 16_384, { ...TEXT_ONLY, ...price(RETIRED, 1, 3) }),
    row('qwen3-32b', 131_072, 40_960, { ...REASONS, ...TEXT_WITHOUT_SCHEMA, ...price(LISTED, 0.29, 0.59) }),
    row('deepseek-r1-distill-llama-70b', 131_072, 8_192, {
      ...REASONS,
      ...TEXT_WITHOUT_SCHEMA,
      ...price(RETIRED, 0.75, 0.99),
    }),
    row('gemma2-9b-it', 8_192, 8_192, {
      ...TEXT_WITHOUT_SCHEMA,
      supportsParallelTools: false,
      ...price(RETIRED, 0.2, 0.2),
    }),
    row('llama3-70b-8192', 8_192, 8_192, { ...TEXT_WITHOUT_SCHEMA, ...price(RETIRED, 0.59, 0.79) }),
    row('llama3-8b-8192', 8_192, 8_192, { ...TEXT_WITHOUT_SCHEMA, ...price(RETIRED, 0.05, 0.08) }),
  ],
};
