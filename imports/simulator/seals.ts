/** Seals on reasoning: what a vendor gives out and later wants back untouched. One vendor can't open another's. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { canonicalJson } from './canonicalJson';

const MAC_BYTES = 16;
/** No secret: the same in every process, so that a conversation outlives a restart of the simulator. */
const KEY = 'simulated seal';

/** The seal over `content` as base64. */
export function sealOf(vendor: VendorName, content: unknown): string {
  return mac(vendor, canonicalJson(content)).toString('base64');
}

/** A text that only the same vendor can open, in base64url. */
export function sealUp(vendor: VendorName, content: unknown): string {
  const payload = Buffer.from(canonicalJson(content));
  return Buffer.concat([mac(vendor, payload.toString()), payload]).toString('base64url');
}

/** What was sealed up, or undefined when the text isn't this vendor's work. */
export function openSeal(vendor: VendorName, sealed: string): unknown {
  const bytes = Buffer.from(sealed, 'base64url');
  const payload = bytes.subarray(MAC_BYTES).toString();
  const expected = mac(vendor, payload);
  const given = bytes.subarray(0, MAC_BYTES);
  if (given.length !== MAC_BYTES || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(payload) as unknown;
}

function mac(vendor: VendorName, text: string): Buffer {
  return createHmac('sha256', `${KEY} of ${vendor}`).update(text).digest().subarray(0, MAC_BYTES);
}
