/** Models cut texts at half a character; no vendor takes that back, so what goes back to them is mended. */
import type { Item } from '../types/ResponsesAPITypes';

/** @returns the item itself when there is nothing to mend */
export function wellFormedItem<T extends Item>(item: T): T {
  const json = JSON.stringify(item);
  // JSON writes lone surrogates, and only them, as escapes of this form.
  if (!/\\u[dD][89a-fA-F]/.test(json)) return item;
  return JSON.parse(json, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)) as T;
}
