/** Reads the items of a stored conversation. Long transcripts may be cut in views, which makes them invalid JSON. */
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';

/** @returns an empty list where there is no valid JSON */
export function parseItems(json: string | undefined): readonly Item[] {
  if (json === undefined) return [];
  try {
    const value: unknown = JSON.parse(json);
    // The server serialized the items of its own store.
    return Array.isArray(value) ? (value as Item[]) : [];
  } catch {
    return [];
  }
}
