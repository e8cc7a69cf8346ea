/**
 * Models that Groq hosts, and open models as other hosts name them. https://console.groq.com/docs/models,
 * https://console.groq.com/docs/structured-outputs; models that Groq has dropped from
 * https://github.com/anomalyco/models.dev at f3fc692 (2026-07-02) and its history.
 */
import { NO_SCHEMA, NO_TOOLS, price, REASONS, row, TEXT_ONLY } from './ModelRow';
import type { ModelRow } from './ModelRow';

const LISTED = '2026-07-02';
/** The day on which the source dropped the older models. */
const RETIRED = '2026-06-10';
const TEXT_WITHOUT_SCHEMA: Omit<ModelRow, 'models'> = { ...TEXT_ONLY, ...NO_SCHEMA };
const SEES_WITHOUT_FILES: Omit<ModelRow, 'models'> = { supportsFiles: false };

export const GROQ_MODELS: readonly ModelRow[] = [
  {
    models: '(?:llama|prompt)-guard|safeguard',
    maxTokens: 8_192,
    maxOutputTokens: 1_024,
    ...TEXT_WITHOUT_SCHEMA,
    ...NO_TOOLS,
  },
  // A system that calls its own tools and takes no others.
  row('compound(-beta)?(-mini)?', 131_072, 8_192, { ...TEXT_WITHOUT_SCHEMA, ...NO_TOOLS }),
  row('gpt-oss-120b', 131_072, 65_536, { ...REASONS, ...TEXT_ONLY, ...price(LISTED, 0.15, 0.6, 0.075) }),
  row('gpt-oss-20b', 131_072, 65_536, { ...REASONS, ...TEXT_ONLY, ...price(LISTED, 0.075, 0.3, 0.0375) }),
  row('llama-3\\.1-8b-instant', 131_072, 131_072, { ...TEXT_WITHOUT_SCHEMA, ...price(LISTED, 0.05, 0.08) }),
  row('llama-3\\.3-70b-versatile', 131_072, 32_768, { ...TEXT_WITHOUT_SCHEMA, ...price(LISTED, 0.59, 0.79) }),
  row('llama-4-scout-17b-16e-instruct', 131_072, 8_192, { ...SEES_WITHOUT_FILES, ...price(LISTED, 0.11, 0.34) }),
  row('llama-4-maverick-17b-128e-instruct', 131_072, 8_192, { ...SEES_WITHOUT_FILES, ...price(RETIRED, 0.2, 0.6) }),
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
];

/** The same weights on other hosts, whose limits differ: what all of them have in common. */
export const OPEN_MODELS: readonly ModelRow[] = [
  {
    models: 'llama-?guard|prompt-guard',
    maxTokens: 8_192,
    maxOutputTokens: 1_024,
    ...TEXT_WITHOUT_SCHEMA,
    ...NO_TOOLS,
  },
  { models: 'gpt-oss', maxTokens: 131_072, maxOutputTokens: 32_768, ...REASONS, ...TEXT_ONLY },
  { models: 'llama-?4', maxTokens: 128_000, maxOutputTokens: 4_096, ...SEES_WITHOUT_FILES },
  { models: 'llama-?3\\.2-(?:11|90)b', maxTokens: 128_000, maxOutputTokens: 4_096, ...SEES_WITHOUT_FILES },
  { models: 'llama-?3\\.[123]', maxTokens: 128_000, maxOutputTokens: 4_096, ...TEXT_ONLY },
  { models: 'llama-?[23]', maxTokens: 8_192, maxOutputTokens: 2_048, ...TEXT_ONLY },
];
