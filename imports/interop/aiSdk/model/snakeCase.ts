import { isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

/** The AI SDK writes options in camelCase, most vendors' APIs in snake_case. Nested objects are converted as well. */
export function toSnakeCase(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeName(name), convert(value)]));
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  return isObject(value) ? toSnakeCase(value) : value;
}

function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
