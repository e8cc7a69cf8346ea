/**
 * xAI's Grok. https://docs.x.ai/docs/api-reference
 *
 * Models: https://docs.x.ai/developers/models for Grok 4.20 and later; output limits and older models from
 * https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02) and its history. Requests whose prompts have 200,000
 * tokens and more cost twice as much. Responses report their cost, which counts; the table serves estimates.
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { ModelPrice } from '../../domain/types/ModelPrice';
import { NO_SCHEMA, NO_TOOLS, price, REASONS, row, TEXT_ONLY, withLongPrompts } from './ModelRow';
import type { Vendor } from './Vendor';

const LISTED = '2026-07-02';
/** The day on which the source dropped the older models. */
const RETIRED = '2026-05-16';

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
  quirks: {
    maxTokensField: 'max_completion_tokens',
    completionTokensExcludeReasoning: true,
    maxStopSequences: 4,
    imagesInToolOutput: true,
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
  models: [
    // xAI documents no output limit; this is Grok 4.3's.
    row('grok-4\\.7', 500_000, 30_000, { ...REASONS, ...grokPrice('2026-09-29', 2, 6, 0.5) }),
    row('grok-4\\.6', 500_000, 30_000, { ...REASONS, ...grokPrice('2026-09-29', 2, 6, 0.5) }),
    row('grok-4\\.5', 500_000, 30_000, { ...REASONS, ...grokPrice('2026-07-10', 2, 6, 0.5) }),
    row('grok-4\\.3', 1_000_000, 30_000, { ...REASONS, ...grokPrice(LISTED, 1.25, 2.5, 0.2) }),
    row('grok-4\\.20-multi-agent[\\w-]*', 1_000_000, 30_000, {
      ...REASONS,
      ...NO_TOOLS,
      ...grokPrice(LISTED, 1.25, 2.5, 0.2),
    }),
    row('grok-4\\.20[\\w-]*non-reasoning', 1_000_000, 30_000, grokPrice(LISTED, 1.25, 2.5, 0.2)),
    row('grok-4\\.20', 1_000_000, 30_000, { ...REASONS, ...grokPrice(LISTED, 1.25, 2.5, 0.2) }),
    row('grok-4(-1|\\.1)?-fast-non-reasoning', 2_000_000, 30_000, price(RETIRED, 0.2, 0.5, 0.05)),
    row('grok-4(-1|\\.1)?-fast', 2_000_000, 30_000, { ...REASONS, ...price(RETIRED, 0.2, 0.5, 0.05) }),
    row('grok-4', 256_000, 64_000, { ...REASONS, ...price(RETIRED, 3, 15, 0.75) }),
    row('grok-build-0\\.1', 256_000, 256_000, { ...REASONS, ...grokPrice(LISTED, 1, 2, 0.2) }),
    row('grok-code-fast-1', 256_000, 10_000, { ...REASONS, ...TEXT_ONLY, ...price(RETIRED, 0.2, 1.5, 0.02) }),
    row('grok-3-mini-fast', 131_072, 8_192, { ...REASONS, ...TEXT_ONLY, ...price(RETIRED, 0.6, 4, 0.15) }),
    row('grok-3-mini', 131_072, 8_192, { ...REASONS, ...TEXT_ONLY, ...price(RETIRED, 0.3, 0.5, 0.075) }),
    row('grok-3-fast', 131_072, 8_192, { ...TEXT_ONLY, ...price(RETIRED, 5, 25, 1.25) }),
    row('grok-3', 131_072, 8_192, { ...TEXT_ONLY, ...price(RETIRED, 3, 15, 0.75) }),
    row('grok-2-vision', 8_192, 4_096, { supportsFiles: false, ...NO_SCHEMA }),
    row('grok-2', 131_072, 8_192, { ...TEXT_ONLY, ...NO_SCHEMA }),
    { models: 'grok-(?:[4-9]|\\d\\d)', maxTokens: 256_000, maxOutputTokens: 30_000, ...REASONS },
  ],
};

function grokPrice(asOf: string, input: number, output: number, cached: number): { readonly price: ModelPrice } {
  return withLongPrompts(price(asOf, input, output, cached), 199_999, 2, 2);
}
