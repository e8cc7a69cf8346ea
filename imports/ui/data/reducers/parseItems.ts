/** Reads the items of a stored conversation. Long transcripts may be cut in views, which makes them invalid JSON. */
import { readJson } from '../../../business/ai/domain/util/json';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';

/** @returns an empty list where there is no valid JSON */
export function parseItems(json: string | undefined): readonly Item[] {
  if (json === undefined) return [];
  const value = readJson(json);
  // The server serialized the items of its own store.
  return Array.isArray(value) ? (value as Item[]) : [];
}
