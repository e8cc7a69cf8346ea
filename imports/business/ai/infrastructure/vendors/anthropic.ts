/**
 * Anthropic. https://docs.anthropic.com/en/api/messages
 *
 * `max_tokens` above a model's `maxOutputTokens` is a 400, so a name that is not listed gets what all models of its
 * generation accept. Native structured output:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import MODELS from './models/anthropic.json';
import { toModelRows } from './ModelRow';
import type { Vendor } from './Vendor';

export const anthropic: Vendor = {
  name: 'anthropic',
  label: VENDOR_LABELS.anthropic,
  wires: ['anthropic_messages'],
  defaultModel: 'claude-sonnet-5-5',
  currentModels: [
    'claude-fable-5-1',
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-opus-5',
    'claude-sonnet-5',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
  ],
  baseURL: 'https://api.anthropic.com',
  storesResponses: false,
  // https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand
  compaction: {
    wire: 'anthropic_messages',
    models: /claude-(?:fable|mythos|(?:opus|sonnet)-(?:4-[6-9]|[5-9]|\d\d)|haiku-(?:5-[5-9]|[6-9]|\d\d))(?!\d)/i,
  },
  // https://platform.claude.com/docs/en/agents-and-tools/mcp-connector
  hostedMcp: { wire: 'anthropic_messages' },
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use
  quirks: { promptCache: 'marks', enforcesSingleCalls: true },
  modelPatterns: [/^claude-/i],
  variables: { key: 'ANTHROPIC_API_KEY', model: 'ANTHROPIC_MODEL', baseURL: 'ANTHROPIC_BASE_URL' },
  models: toModelRows(MODELS),
};
