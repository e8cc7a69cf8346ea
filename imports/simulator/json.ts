/** Safe access to parsed JSON whose shape has not been checked. */
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function asArray(value: unknown): readonly unknown[] {
  return isArray(value) ? value : [];
}

/** The objects of an array; other elements are left out. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return asArray(value).filter(isObject);
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Neither undefined nor null: vendors treat both as absent. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function parseJson(text: string): unknown {
  return JSON.parse(text) as unknown;
}
