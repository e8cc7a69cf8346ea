/** Signs reasoning, which a vendor issues and later requires back unmodified. One vendor can't verify another's. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { canonicalJson } from '../business/ai/domain/util/canonicalJson';

const MAC_BYTES = 16;
/** Not a secret: the same in every process, so that a conversation survives a restart of the simulator. */
const KEY = 'simulated seal';

/** The signature of `content`, in base64. */
export function createSignature(vendor: VendorName, content: unknown): string {
  return mac(vendor, canonicalJson(content)).toString('base64');
}

/** Content with its signature, in base64url. Only the same vendor can read it. */
export function createSignedToken(vendor: VendorName, content: unknown): string {
  const payload = Buffer.from(canonicalJson(content));
  return Buffer.concat([mac(vendor, payload.toString()), payload]).toString('base64url');
}

/** @returns the content of the token, or undefined if this vendor did not issue it */
export function readSignedToken(vendor: VendorName, token: string): unknown {
  const bytes = Buffer.from(token, 'base64url');
  const payload = bytes.subarray(MAC_BYTES).toString();
  const expected = mac(vendor, payload);
  const given = bytes.subarray(0, MAC_BYTES);
  if (given.length !== MAC_BYTES || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(payload) as unknown;
}

function mac(vendor: VendorName, text: string): Buffer {
  return createHmac('sha256', `${KEY} of ${vendor}`).update(text).digest().subarray(0, MAC_BYTES);
}
