/**
 * SHA-256 of the arguments' text in hex, as approvals name it. Undefined where the browser has no cryptography,
 * which is on pages that are not secure.
 */
export async function hashArguments(text: string): Promise<string | undefined> {
  // The types know secure pages only.
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
