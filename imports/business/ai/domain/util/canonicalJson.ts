/** Texts that identify a JSON value. */
import { isObject } from './json';
import type { JsonObject } from '../types/VendorTypes';

/** JSON whose keys are sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => (isObject(entry) ? sorted(entry) : entry));
}

function sorted(object: JsonObject): JsonObject {
  const names = Object.keys(object);
  // Most objects have few names, which are sorted already.
  if (names.every((name, index) => index === 0 || (names[index - 1] ?? '') <= name)) return object;
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
