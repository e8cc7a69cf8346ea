/** What everything on the chat wire asks of untyped JSON, and how it takes fields out of it. */
import type { JsonObject } from '../../../domain/types/VendorTypes';

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A copy that lacks the keys. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
