/** Reads JSON of unknown shape. */
import type { JsonObject } from '../types/VendorTypes';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value itself if it is an object, else an empty one: for reading fields that may not be there. */
export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isObjectList(value: unknown): value is readonly JsonObject[] {
  if (!isList(value)) return false;
  for (const each of value) if (!isObject(each)) return false;
  return true;
}

/** Whether an object has no enumerable fields of its own. */
export function isEmpty(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** Whether a `json_schema` is the schema itself, rather than an object that holds it in `schema`. */
export function isBareSchema(value: JsonObject): boolean {
  if (value.schema !== undefined) return false;
  return ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].some((name) => name in value);
}

/** The value of a JSON text; undefined, which JSON does not have, for any other text. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON text; any other text as it is. */
export function jsonOrText(text: string): unknown {
  const value = readJson(text);
  return value === undefined ? text : value;
}

/**
 * Returns the name of a field as hosts that are written in Go compare it: in any case, with a long s as an s.
 * `toLowerCase` makes a k of the Kelvin sign by itself. https://pkg.go.dev/encoding/json
 */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll('\u017f', 's');
}
