/** Texts and hashes that identify a JSON value. */
import { createHash } from 'node:crypto';
import { isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** JSON whose keys are sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => (isObject(entry) ? sorted(entry) : entry));
}

/**
 * Identifies the arguments that a person approves: a decision is valid only for exactly the arguments that were shown.
 * @returns SHA-256 of the arguments' text, in hexadecimal
 */
export function argumentsHash(argumentsText: string): string {
  return createHash('sha256').update(argumentsText).digest('hex');
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
