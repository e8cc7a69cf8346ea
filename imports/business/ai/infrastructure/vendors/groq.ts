/** Groq, which serves open models. https://console.groq.com/docs */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import MODELS from './models/groq.json';
import { toModelRows } from './ModelRow';
import { OPEN_MODELS } from './openModels';
import type { Vendor } from './Vendor';

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
      // `reasoning_effort` in groq-sdk
      { models: '^qwen/qwen3-', quirks: { reasoningEfforts: ['none', 'default'] } },
      { models: '^openai/gpt-oss', quirks: { reasoningEfforts: ['low', 'medium', 'high'] } },
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
  models: toModelRows(MODELS),
};
