/**
 * Anthropic. https://docs.anthropic.com/en/api/messages
 *
 * `max_tokens` above a model's `maxOutputTokens` is a 400, so a name that is not listed gets what all models of its
 * generation accept. Limits: responses of `GET /v1/models` (https://docs.claude.com/en/api/models-list) seen in May
 * 2026, and the pages https://platform.claude.com/docs/en/models/<model>/overview; prices: the same pages, and
 * https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02). Native structured output:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { ModelPrice } from '../../domain/types/ModelPrice';
import { NO_SCHEMA, price, REASONS, row, TEXT_ONLY, withLongPrompts } from './ModelRow';
import type { Vendor } from './Vendor';

const LISTED = '2026-07-02';
/** The overview pages as they were when Haiku 5.5 was the latest model. */
const PAGES = '2026-10-07';

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
  quirks: { promptCache: 'marks' },
  modelPatterns: [/^claude-/i],
  variables: { key: 'ANTHROPIC_API_KEY', model: 'ANTHROPIC_MODEL', baseURL: 'ANTHROPIC_BASE_URL' },
  models: [
    row('claude-fable-5-1', 1_000_000, 128_000, { ...REASONS, ...claudePrice('2026-09-03', 10, 50, 0.25) }),
    row('claude-(fable|mythos)-5', 1_000_000, 128_000, { ...REASONS, ...claudePrice(LISTED, 10, 50, 1) }),
    row('claude-opus-5-5', 1_000_000, 128_000, { ...REASONS, ...claudePrice('2026-09-22', 4, 20, 0.2) }),
    row('claude-opus-5', 1_000_000, 128_000, { ...REASONS, ...claudePrice(PAGES, 5, 25, 0.5) }),
    row('claude-sonnet-5-5', 1_000_000, 128_000, { ...REASONS, ...claudePrice('2026-10-16', 2, 10, 0.1) }),
    row('claude-sonnet-5', 1_000_000, 128_000, { ...REASONS, ...claudePrice(PAGES, 2, 10, 0.2) }),
    row('claude-haiku-5-5', 1_000_000, 128_000, {
      ...REASONS,
      ...withLongPrompts(claudePrice('2026-10-16', 0.1, 0.5, 0.01), 100_000, 5, 5),
    }),
    row('claude-opus-4-[678]', 1_000_000, 128_000, { ...REASONS, ...claudePrice(LISTED, 5, 25, 0.5) }),
    row('claude-sonnet-4-6', 1_000_000, 128_000, { ...REASONS, ...claudePrice(LISTED, 3, 15, 0.3) }),
    row('claude-opus-4-5', 200_000, 64_000, { ...REASONS, ...claudePrice(LISTED, 5, 25, 0.5) }),
    row('claude-sonnet-4-5', 200_000, 64_000, { ...REASONS, ...claudePrice(LISTED, 3, 15, 0.3) }),
    row('claude-haiku-4-5', 200_000, 64_000, { ...REASONS, ...claudePrice(LISTED, 1, 5, 0.1) }),
    row('claude-opus-4-1', 200_000, 32_000, { ...REASONS, ...claudePrice(LISTED, 15, 75, 1.5) }),
    row('claude-(4-opus|opus-4(-0)?)', 200_000, 32_000, {
      ...REASONS,
      ...NO_SCHEMA,
      ...claudePrice(LISTED, 15, 75, 1.5),
    }),
    row('claude-(4-sonnet|sonnet-4(-0)?)', 200_000, 64_000, {
      ...REASONS,
      ...NO_SCHEMA,
      ...claudePrice(LISTED, 3, 15, 0.3),
    }),
    row('claude-3-7-sonnet', 200_000, 64_000, { ...REASONS, ...NO_SCHEMA, ...claudePrice(LISTED, 3, 15, 0.3) }),
    row('claude-3-5-haiku', 200_000, 8_192, { ...NO_SCHEMA, ...claudePrice('2026-06-26', 0.8, 4, 0.08) }),
    row('claude-3-5-sonnet', 200_000, 8_192, { ...NO_SCHEMA, ...claudePrice(LISTED, 3, 15, 0.3) }),
    row('claude-3-opus', 200_000, 4_096, { ...NO_SCHEMA, ...claudePrice(LISTED, 15, 75, 1.5) }),
    row('claude-3-sonnet', 200_000, 4_096, { ...NO_SCHEMA, ...claudePrice(LISTED, 3, 15, 0.3) }),
    row('claude-3-haiku', 200_000, 4_096, { ...NO_SCHEMA, ...claudePrice(LISTED, 0.25, 1.25, 0.03, 0.3) }),
    {
      models: 'claude-(?:2|instant)',
      maxTokens: 100_000,
      maxOutputTokens: 4_096,
      supportsTools: false,
      supportsParallelTools: false,
      ...TEXT_ONLY,
      ...NO_SCHEMA,
    },
    // Every Claude since 4.5 accepts this much.
    { models: 'claude-', maxTokens: 200_000, maxOutputTokens: 64_000, ...REASONS },
  ],
};

/**
 * Cache writes cost a quarter more than input, and for an hour twice as much:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
 */
function claudePrice(
  asOf: string,
  input: number,
  output: number,
  cached: number,
  cacheWrite = input * 1.25,
): { readonly price: ModelPrice } {
  return price(asOf, input, output, cached, { cacheWrite, cacheWriteHour: input * 2 });
}
