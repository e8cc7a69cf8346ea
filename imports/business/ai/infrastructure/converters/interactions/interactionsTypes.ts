/**
 * Types of Gemini's Interactions wire, and the fields that preserve the wire form of items.
 * https://ai.google.dev/api/interactions-api
 */
import type { JsonObject, Origin, VendorPart } from '../../../domain/types/VendorTypes';

/** One of `user_input`, `thought`, `function_call`, `function_result`, `model_output`, or a step of a server tool. */
export type InteractionStep = JsonObject;

interface Carrier {
  readonly vendor?: VendorPart;
}

/** Fields of the step or content that the item cannot express. */
export function ownFields(carrier: Carrier): JsonObject | undefined {
  return carrier.vendor?.google_interactions;
}

/** Returns `{ vendor }` for an item or part, or `{}` if there is nothing to store. */
export function vendorFields(fields: JsonObject): { vendor?: VendorPart } {
  return Object.keys(fields).length === 0 ? {} : { vendor: { google_interactions: fields } };
}

/** Whether opaque content can be sent back to this vendor. */
export function isOwn(origin: Origin | undefined, vendor: string): boolean {
  return origin?.wire === 'interactions' && (origin.vendor === undefined || origin.vendor === vendor);
}

/** Agents have names of their own, and no settings of a model. https://ai.google.dev/gemini-api/docs/deep-research */
export function isAgent(model: string): boolean {
  return /^(?:deep-research|antigravity)-/.test(model);
}
