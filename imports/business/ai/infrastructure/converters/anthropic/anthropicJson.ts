/** Small readers of JSON that nobody vouches for, shared by the parts of the Anthropic wire. */
import { isEmpty } from '../../../domain/json';
import type { JsonObject, VendorPart } from '../../../domain/types/VendorTypes';

/** What is left of a block, as the part that carries it back; nothing left is no part. */
export function carried(rest: JsonObject): { readonly vendor?: VendorPart } {
  return isEmpty(rest) ? {} : { vendor: { anthropic: rest } };
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
