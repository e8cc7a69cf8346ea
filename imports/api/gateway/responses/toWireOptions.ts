/** Translates fields of a Responses request that have no common option into the fields of other wires. */
import type { JsonObject, VendorFields } from '../../../business/ai/domain/types/VendorTypes';

/** Explicit defaults are dropped, since not every provider knows the fields. */
export function toWireOptions({ top_logprobs }: JsonObject): VendorFields {
  return typeof top_logprobs === 'number' && top_logprobs > 0 ? { openai: { top_logprobs, logprobs: true } } : {};
}
