/**
 * The SHA-256 of the arguments' text in hex, which an approval must carry. Undefined on insecure pages, where browsers
 * offer no cryptography.
 */
export async function hashArguments(text: string): Promise<string | undefined> {
  // The DOM types assume a secure page.
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
