import { hash } from 'node:crypto';

/** Makes the `_id` of a document from what names it. Hashed, since callers choose ids of any length. */
export function hashedId(...keys: readonly string[]): string {
  return hash('sha256', JSON.stringify(keys), 'base64url');
}
