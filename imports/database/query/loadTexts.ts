/** Puts the long texts into documents that were found. */
import type { StoredDocument } from '../DocumentCollection';
import { LargeText } from './LargeText';
import { largeTextsIn, mapTexts } from './mapTexts';

/** @throws StoreError if a text is missing or damaged */
export async function loadTexts<T extends StoredDocument>(documents: readonly T[]): Promise<readonly T[]> {
  const loaded = new Map<string, string>();
  for (const large of documents.flatMap((document) => largeTextsIn(document)))
    if (!loaded.has(large.name)) loaded.set(large.name, await large.load());
  if (loaded.size === 0) return documents;
  // Only texts change.
  return documents.map(
    (document) =>
      mapTexts(document, (text) => (text instanceof LargeText ? (loaded.get(text.name) ?? text) : text)) as T,
  );
}
