/** The most bytes of one document. Databases allow 15 MiB. */
export const MAX_DOCUMENT_BYTES = 14 * 1_024 ** 2;
/** What a database needs for each text beside its bytes, at most. */
const BYTES_PER_TEXT = 32;

/** Returns the most bytes that a document with these texts can take, in UTF-8. */
export function documentBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + BYTES_PER_TEXT, 0);
}
