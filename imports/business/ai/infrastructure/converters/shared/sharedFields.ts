/**
 * Carries what clients of one of OpenAI's APIs say to the other one: both have these fields, with the same meaning.
 * https://platform.openai.com/docs/api-reference/responses/create, https://platform.openai.com/docs/api-reference/chat/create
 */
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { WireContext } from '../Wire';

/**
 * Returns the fields that this vendor's `wire` surely has.
 * @param fields of the other API's request
 */
export function sharedFields(
  { safety_identifier, prompt_cache_key }: JsonObject = {},
  { vendor, quirks }: Pick<WireContext, 'vendor' | 'quirks'>,
  wire: 'responses' | 'chat_completions',
): JsonObject {
  // Open Responses has both. Chat hosts such as Mistral refuse what they do not know, and Codex always sends the key.
  if (quirks.promptCache !== 'key' && !(vendor === 'openai_compatible' && wire === 'responses')) return {};
  return {
    ...(typeof safety_identifier === 'string' ? { safety_identifier } : {}),
    ...(typeof prompt_cache_key === 'string' ? { prompt_cache_key } : {}),
  };
}
