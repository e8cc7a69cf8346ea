/** Open models, wherever they are served. Limits differ between services; these are the ones all of them share. */
import { NO_SCHEMA, NO_TOOLS, REASONS, TEXT_ONLY } from './ModelRow';
import type { ModelRow } from './ModelRow';

export const OPEN_MODELS: readonly ModelRow[] = [
  {
    models: 'llama-?guard|prompt-guard',
    maxTokens: 8_192,
    maxOutputTokens: 1_024,
    ...TEXT_ONLY,
    ...NO_SCHEMA,
    ...NO_TOOLS,
  },
  { models: 'gpt-oss', maxTokens: 131_072, maxOutputTokens: 32_768, ...REASONS, ...TEXT_ONLY },
  { models: 'llama-?4', maxTokens: 128_000, maxOutputTokens: 4_096, supportsFiles: false },
  { models: 'llama-?3\\.2-(?:11|90)b', maxTokens: 128_000, maxOutputTokens: 4_096, supportsFiles: false },
  { models: 'llama-?3\\.[123]', maxTokens: 128_000, maxOutputTokens: 4_096, ...TEXT_ONLY },
  { models: 'llama-?[23]', maxTokens: 8_192, maxOutputTokens: 2_048, ...TEXT_ONLY },
];
