/** The few questions that are asked of JSON before anything is known of it. */
import type { JsonObject } from './types/VendorTypes';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object; anything else has none. */
export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isObjectList(value: unknown): value is readonly JsonObject[] {
  return isList(value) && value.every(isObject);
}

export function isEmpty(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}
