/**
 * Google's Gemini API. https://ai.google.dev/api/generate-content
 *
 * Limits and prices: https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02) and its history, which follows
 * https://ai.google.dev/gemini-api/docs/models and …/pricing; later ones from the pages linked beside them. Prompts
 * above 200,000 tokens cost more on the Pro models. The hourly price of stored caches is not in any response.
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { ModelPrice } from '../../domain/types/ModelPrice';
import { EMBEDS, NO_SCHEMA, NO_TOOLS, price, REASONS, row, withLongPrompts } from './ModelRow';
import type { Vendor } from './Vendor';

const LISTED = '2026-07-02';
const MILLION = 1_048_576;

export const google: Vendor = {
  name: 'google',
  label: VENDOR_LABELS.google,
  wires: ['gemini'],
  defaultModel: 'gemini-3.5-flash',
  currentModels: [
    'gemini-4-argon',
    'gemini-3.8-flash',
    'gemini-3.6-flash',
    'gemini-3.5-flash',
    'gemini-3.5-flash-lite',
    'gemini-3.1-flash-lite',
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
  ],
  embeddingModel: 'gemini-embedding-001',
  baseURL: 'https://generativelanguage.googleapis.com',
  storesResponses: false,
  quirks: { fetchesImageUrls: false },
  modelPatterns: [/^(?:(?:gemini|gemma|learnlm)-|text-embedding-\d{3}$)/i],
  variables: { key: 'GOOGLE_API_KEY', model: 'GOOGLE_MODEL', baseURL: 'GOOGLE_BASE_URL' },
  models: [
    // https://ai.google.dev/gemini-api/docs/models#gemini-embedding, …/pricing
    row('gemini-embedding-001', 2_048, 0, { ...EMBEDS, ...price(LISTED, 0.15, 0) }),
    { models: '(?:gemini|text)-embedding-', maxTokens: 8_192, maxOutputTokens: 0, ...EMBEDS },
    // Models that generate audio or images.
    {
      models: 'gemini-[\\w.-]*(?:tts|image)|nano-banana',
      maxTokens: 32_768,
      maxOutputTokens: 32_768,
      ...NO_TOOLS,
      ...NO_SCHEMA,
    },
    // Input and output share one limit; a single request returns up to 65,536 tokens unless it streams on:
    // https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/start/get-started-with-gemini-4
    row('gemini-4-argon', MILLION, 65_536, REASONS),
    // Half price until 2026-12-31: https://ai.google.dev/gemini-api/docs/pricing
    row('gemini-3\\.8-flash', MILLION, 65_536, { ...REASONS, ...price('2026-10-07', 0.75, 3.75, 0.075) }),
    row('gemini-3\\.6-flash', MILLION, 65_536, { ...REASONS, ...price('2026-07-21', 1.5, 7.5, 0.15) }),
    row('gemini-3\\.5-flash-lite', MILLION, 65_536, { ...REASONS, ...price('2026-07-21', 0.3, 2.5, 0.03) }),
    row('gemini-3\\.5-flash', MILLION, 65_536, { ...REASONS, ...price(LISTED, 1.5, 9, 0.15) }),
    row('gemini-3\\.1-flash-lite', MILLION, 65_536, { ...REASONS, ...price(LISTED, 0.25, 1.5, 0.025) }),
    row('gemini-3(\\.1)?-pro', MILLION, 65_536, { ...REASONS, ...proPrice(LISTED, 2, 12, 0.2) }),
    row('gemini-3-flash', MILLION, 65_536, { ...REASONS, ...price(LISTED, 0.5, 3, 0.05) }),
    row('gemini-2\\.5-flash-lite', MILLION, 65_536, { ...REASONS, ...price(LISTED, 0.1, 0.4, 0.01) }),
    row('gemini-2\\.5-flash', MILLION, 65_536, { ...REASONS, ...price(LISTED, 0.3, 2.5, 0.03) }),
    row('gemini-2\\.5-pro', MILLION, 65_536, { ...REASONS, ...proPrice(LISTED, 1.25, 10, 0.125) }),
    row('gemini-2\\.0-flash-lite', MILLION, 8_192, price(LISTED, 0.075, 0.3)),
    row('gemini-2\\.0-flash', MILLION, 8_192, price(LISTED, 0.1, 0.4, 0.025)),
    row('gemini-1\\.5-(flash-8b|flash|pro)', 1_000_000, 8_192),
    { models: 'gemini-[\\w.-]*latest', maxTokens: MILLION, maxOutputTokens: 65_536, ...REASONS },
    // Every text model since 2.5 returns this much.
    { models: 'gemini-(?:[3-9]|\\d\\d|2\\.5)', maxTokens: MILLION, maxOutputTokens: 65_536, ...REASONS },
    row('gemma-4[\\w-]*', 262_144, 32_768, { ...REASONS, supportsFiles: false }),
    row('gemma-3-27b[\\w-]*', 131_072, 8_192, { supportsFiles: false }),
    { models: 'gemma-', maxTokens: 32_768, maxOutputTokens: 8_192, ...NO_TOOLS, ...NO_SCHEMA, supportsFiles: false },
    { models: 'gemini-', maxTokens: 1_000_000, maxOutputTokens: 8_192 },
  ],
};

function proPrice(asOf: string, input: number, output: number, cached: number): { readonly price: ModelPrice } {
  return withLongPrompts(price(asOf, input, output, cached), 200_000, 2, 1.5);
}
