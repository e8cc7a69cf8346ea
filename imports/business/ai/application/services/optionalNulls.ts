/** Models that must name every property write null for those that they leave out. */
import { isObject } from '../../domain/json';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { faultsOf } from './schema/SchemaValidator';

const MOST_ROUNDS = 8;

/**
 * The value without the nulls that its schema refuses where the property may be left out, or `undefined` when that
 * doesn't make it valid. What was given stays as it was.
 */
export function withoutOptionalNulls(schema: JsonObject, value: unknown): { readonly value: unknown } | undefined {
  let current = value;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const faults = faultsOf(schema, current);
    if (faults.length === 0) return { value: current };
    const nulls = faults.filter(({ data, pointer }) => data === null && pointer !== '');
    if (nulls.length === 0) return undefined;
    if (current === value) current = structuredClone(value);
    let removed = false;
    for (const { pointer } of nulls) removed = removeProperty(current, pointer) || removed;
    if (!removed) return undefined;
  }
  return undefined;
}

/** @returns whether there was such a property; elements of arrays stay */
function removeProperty(root: unknown, pointer: string): boolean {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop();
  let place = root;
  for (const key of keys) place = isContainer(place) ? place[key] : undefined;
  if (last === undefined || !isObject(place) || place[last] !== null) return false;
  return Reflect.deleteProperty(place, last);
}

/** An object, or an array under its indices. */
function isContainer(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
