/** Requests and responses of the vendors' token counters. */
import { LLMStreamError } from '../../domain/errors/LLMErrors';
import { fieldsOf, readJson } from '../../domain/util/json';
import type { JsonObject } from '../../domain/types/VendorTypes';
import type { VendorHttpResponse } from './VendorClient';

/** Counters refuse the fields of a generation that do not change its input. */
export function pickFields(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

/**
 * @param field the name of the count in the response
 * @throws LLMStreamError if the response has no count
 */
export async function readTokenCount(response: VendorHttpResponse, field: string): Promise<number> {
  const text = await response.text();
  const count = fieldsOf(readJson(text))[field];
  if (typeof count === 'number') return count;
  throw new LLMStreamError(`The vendor's token count has no "${field}" (${text.length} characters).`, {
    status: response.status,
  });
}
