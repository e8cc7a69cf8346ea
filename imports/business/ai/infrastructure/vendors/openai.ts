/**
 * OpenAI. https://platform.openai.com/docs/api-reference
 *
 * Limits and prices up to GPT-5.5: https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02), which follows
 * https://developers.openai.com/api/docs/models; later ones from the pages linked beside them. Above 272,000 input
 * tokens the large models cost twice as much for input and half as much again for output; from GPT-5.6 on, writing to
 * the prompt cache costs a quarter more than input. Both: https://developers.openai.com/api/docs/models/gpt-6.2-sol
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { ModelPrice } from '../../domain/types/ModelPrice';
import { EMBEDS, NO_SCHEMA, NO_TOOLS, price, REASONS, row, TEXT_ONLY, withLongPrompts } from './ModelRow';
import type { ModelRow } from './ModelRow';
import type { Vendor } from './Vendor';

const LISTED = '2026-07-02';
/**
 * `async: true` on a function lets the model continue before the output is there; the output follows later under the
 * call's own id. Responses wire only, from GPT-6 on:
 * https://developers.openai.com/api/docs/guides/async-tool-calling
 */
const GPT_6: Omit<ModelRow, 'models'> = { ...REASONS, supportsAsyncTools: true };

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
  baseURL: 'https://api.openai.com/v1',
  storesResponses: true,
  quirks: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    maxStopSequences: 4,
    maxCallIdLength: 40,
    supportsAllowedTools: true,
    supportsToolNamespaces: true,
    supportsCustomTools: true,
    metadataNeedsStore: true,
    promptCache: 'key',
    modelRules: [
      // https://platform.openai.com/docs/guides/tools-web-search?api-mode=chat
      { models: '-search-(preview|api)', quirks: { builtInTools: { web_search: { as: 'web_search_options' } } } },
    ],
  },
  // https://platform.openai.com/docs/models. gpt-oss is served by other vendors only.
  modelPatterns: [
    /^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|computer-use-|o\d)/i,
    /^(?:text-embedding-(?:3-|ada-)|dall-e-|tts-1|whisper-1$)/i,
  ],
  variables: { key: 'OPENAI_API_KEY', model: 'OPENAI_MODEL', baseURL: 'OPENAI_API_BASE', wire: 'OPENAI_WIRE' },
  models: [
    // Offshoots, of which neither limits nor prices were found.
    {
      models: '(?:^|[/:.])gpt-[\\d.]+-(?:cyber|rosalind|search-api)',
      maxTokens: 400_000,
      maxOutputTokens: 128_000,
      ...REASONS,
    },
    // https://developers.openai.com/api/docs/models/gpt-6.1-sol and its siblings
    row('gpt-6-astra', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-09-03', 10, 50, 1) }),
    // https://developers.openai.com/api/docs/models/gpt-6.2-sol
    row('gpt-6\\.2-sol', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-11-22', 2, 10, 0.1) }),
    row('gpt-6\\.1-sol', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-09-30', 2, 10, 0.1) }),
    row('gpt-6\\.1-terra', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-10-26', 1, 5, 0.05) }),
    row('gpt-6-sol', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-09-22', 2, 10, 0.2) }),
    row('gpt-6-luna', 1_050_000, 128_000, { ...GPT_6, ...cacheWritePrice('2026-09-22', 0.1, 0.5, 0.01) }),
    row('gpt-5\\.6-terra', 1_050_000, 128_000, { ...REASONS, ...cacheWritePrice('2026-07-30', 2, 12, 0.2) }),
    row('gpt-5\\.6-luna', 1_050_000, 128_000, { ...REASONS, ...cacheWritePrice('2026-07-30', 0.2, 1.2, 0.02) }),
    // The list price; a promotion to $4 and $20 was announced to last until 2026-11-21 at least.
    row('gpt-5\\.6(-sol)?', 1_050_000, 128_000, { ...REASONS, ...cacheWritePrice('2026-08-19', 5, 30, 0.5) }),

    row('gpt-5\\.[45]-pro', 1_050_000, 128_000, { ...REASONS, ...longPrice(LISTED, 30, 180) }),
    row('gpt-5\\.5', 1_050_000, 128_000, { ...REASONS, ...longPrice(LISTED, 5, 30, 0.5) }),
    row('gpt-5\\.4-mini', 400_000, 128_000, { ...REASONS, ...price(LISTED, 0.75, 4.5, 0.075) }),
    row('gpt-5\\.4-nano', 400_000, 128_000, { ...REASONS, ...price(LISTED, 0.2, 1.25, 0.02) }),
    row('gpt-5\\.4', 1_050_000, 128_000, { ...REASONS, ...longPrice(LISTED, 2.5, 15, 0.25) }),
    row('gpt-5\\.3-codex-spark', 128_000, 32_000, { ...REASONS, ...price(LISTED, 1.75, 14, 0.175) }),
    row('gpt-5\\.3-chat', 128_000, 16_384, price(LISTED, 1.75, 14, 0.175)),
    row('gpt-5\\.2-chat', 128_000, 16_384, { ...REASONS, ...price(LISTED, 1.75, 14, 0.175) }),
    row('gpt-5\\.1-chat', 128_000, 16_384, { ...REASONS, ...price(LISTED, 1.25, 10, 0.125) }),
    row('gpt-5\\.2-pro', 400_000, 128_000, { ...REASONS, ...NO_SCHEMA, ...price(LISTED, 21, 168) }),
    row('gpt-5\\.2|gpt-5\\.3-codex', 400_000, 128_000, { ...REASONS, ...price(LISTED, 1.75, 14, 0.175) }),
    row('gpt-5\\.1-codex-mini', 400_000, 128_000, { ...REASONS, ...price(LISTED, 0.25, 2, 0.025) }),
    row('gpt-5\\.1-mini', 400_000, 128_000, REASONS),
    row('gpt-5\\.1', 400_000, 128_000, { ...REASONS, ...price(LISTED, 1.25, 10, 0.125) }),
    row('gpt-5-pro', 400_000, 272_000, { ...REASONS, ...price(LISTED, 15, 120) }),
    row('gpt-5-mini', 400_000, 128_000, { ...REASONS, ...price(LISTED, 0.25, 2, 0.025) }),
    row('gpt-5-nano', 400_000, 128_000, { ...REASONS, ...price(LISTED, 0.05, 0.4, 0.005) }),
    row('gpt-5-chat', 400_000, 128_000, { ...REASONS, ...NO_TOOLS, ...price(LISTED, 1.25, 10, 0.125) }),
    row('gpt-5', 400_000, 128_000, { ...REASONS, ...price(LISTED, 1.25, 10, 0.125) }),

    row('o[34](-mini)?-deep-research', 200_000, 100_000, { ...REASONS, ...NO_SCHEMA }),
    row('o4-mini', 200_000, 100_000, { ...REASONS, ...price(LISTED, 1.1, 4.4, 0.275) }),
    row('o3-pro', 200_000, 100_000, { ...REASONS, ...price(LISTED, 20, 80) }),
    row('o3-mini', 200_000, 100_000, { ...REASONS, ...TEXT_ONLY, ...price(LISTED, 1.1, 4.4, 0.55) }),
    row('o3', 200_000, 100_000, { ...REASONS, ...price(LISTED, 2, 8, 0.5) }),
    row('o1-mini', 128_000, 65_536, { ...REASONS, ...TEXT_ONLY, ...NO_TOOLS, ...price('2026-06-08', 1.1, 4.4, 0.55) }),
    row('o1-preview', 128_000, 32_768, {
      ...REASONS,
      ...TEXT_ONLY,
      ...NO_TOOLS,
      ...NO_SCHEMA,
      ...price('2026-06-08', 15, 60, 7.5),
    }),
    row('o1-pro', 200_000, 100_000, { ...REASONS, ...price(LISTED, 150, 600) }),
    row('o1', 200_000, 100_000, { ...REASONS, ...price(LISTED, 15, 60, 7.5) }),
    row('codex-mini', 200_000, 100_000, { ...REASONS, ...TEXT_ONLY, ...price('2026-04-17', 1.5, 6, 0.375) }),

    row('gpt-4\\.1-mini', 1_047_576, 32_768, price(LISTED, 0.4, 1.6, 0.1)),
    row('gpt-4\\.1-nano', 1_047_576, 32_768, price(LISTED, 0.1, 0.4, 0.025)),
    row('gpt-4\\.1', 1_047_576, 32_768, price(LISTED, 2, 8, 0.5)),
    row('gpt-4\\.5-preview', 128_000, 16_384),
    row('gpt-4o(-mini)?-(audio|search|realtime)[\\w-]*', 128_000, 16_384),
    row('gpt-4o-mini', 128_000, 16_384, price(LISTED, 0.15, 0.6, 0.075)),
    row('gpt-4o-2024-05-13', 128_000, 4_096, { ...NO_SCHEMA, ...price(LISTED, 5, 15) }),
    row('(chat)?gpt-4o', 128_000, 16_384, price(LISTED, 2.5, 10, 1.25)),
    row('gpt-4-turbo|gpt-4-vision|gpt-4-(0125|1106)-preview', 128_000, 4_096, {
      ...NO_SCHEMA,
      ...price(LISTED, 10, 30),
    }),
    row('gpt-4-32k', 32_768, 8_192, { ...TEXT_ONLY, ...NO_SCHEMA }),
    row('gpt-4', 8_192, 8_192, { ...TEXT_ONLY, ...NO_SCHEMA, ...price(LISTED, 30, 60) }),
    // Azure leaves the dot out.
    row('gpt-3\\.?5-turbo', 16_385, 4_096, { ...TEXT_ONLY, ...NO_SCHEMA, ...price(LISTED, 0.5, 1.5) }),
    // A generation that is newer than this table thinks and sees.
    { models: '(?:^|[/:.])gpt-(?:[5-9]|\\d\\d)', maxTokens: 400_000, maxOutputTokens: 128_000, ...REASONS },
    { models: '(?:^|[/:.])o[1-9](?:-|$)', maxTokens: 200_000, maxOutputTokens: 100_000, ...REASONS },
    // https://platform.openai.com/docs/models/text-embedding-3-small and its siblings
    row('text-embedding-3-small', 8_192, 0, { ...EMBEDS, ...price(LISTED, 0.02, 0) }),
    row('text-embedding-3-large', 8_192, 0, { ...EMBEDS, ...price(LISTED, 0.13, 0) }),
    row('text-embedding-ada-002', 8_192, 0, { ...EMBEDS, ...price(LISTED, 0.1, 0) }),
  ],
};

function longPrice(asOf: string, input: number, output: number, cached?: number): { readonly price: ModelPrice } {
  return withLongPrompts(price(asOf, input, output, cached), 272_000, 2, 1.5);
}

function cacheWritePrice(asOf: string, input: number, output: number, cached: number): { readonly price: ModelPrice } {
  return withLongPrompts(price(asOf, input, output, cached, { cacheWrite: input * 1.25 }), 272_000, 2, 1.5);
}
