/**
 * What the chat wire has no inner word for, on items and parts under `vendor.openai`: fields of the wire's own
 * object, verbatim, and the few words below. They go back to the host that wrote them; those of a request, which
 * nobody signed, go wherever the request goes.
 */
import { isObject } from '../../../domain/json';
import type { JsonObject, VendorPart } from '../../../domain/types/VendorTypes';

export interface ChatVendorFields {
  /** The vendor whose answer this was part of. */
  readonly from?: string;
  /** Fields of the chat message that this item begins; an item that has them never joins the message before it. */
  readonly message?: JsonObject;
  /** On reasoning: the message fields in which its text stood. */
  readonly reasoning_fields?: readonly string[];
  /** On calls and answers: the form from before tools (`function_call`, role `function`). */
  readonly legacy?: boolean;
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  'from',
  'message',
  'reasoning_fields',
  'legacy',
] satisfies (keyof ChatVendorFields)[]);
const NONE: JsonObject = {};

interface Carrier {
  readonly vendor?: VendorPart;
}

/** Everything under `vendor.openai`; callers write it too, so that no type is sure. */
export function vendorFieldsOf(carrier: Carrier): JsonObject {
  return isObject(carrier.vendor?.openai) ? carrier.vendor.openai : NONE;
}

export function isFromVendor(fields: JsonObject, vendor: string): boolean {
  return fields.from === undefined || fields.from === vendor;
}

export function messageFieldsOf(carrier: Carrier): JsonObject | undefined {
  const { message } = vendorFieldsOf(carrier);
  return isObject(message) ? message : undefined;
}

/** The verbatim fields of the carrier's own object. */
export function ownFieldsOf(fields: JsonObject): JsonObject {
  if (fields === NONE) return NONE;
  const own: JsonObject = {};
  for (const key of Object.keys(fields)) if (!OWN_FIELDS.has(key)) own[key] = fields[key];
  return own;
}

/** A vendor part, or nothing at all where there is nothing to say. */
export function withVendorFields(
  fields: JsonObject & ChatVendorFields,
  from: string | undefined,
): { vendor?: VendorPart } {
  for (const _ in fields) return { vendor: { openai: from === undefined ? fields : { from, ...fields } } };
  return {};
}
