/**
 * Reads and writes `vendor.openai`, which carries what the domain model cannot express about an item or a part: the
 * wire object's own fields, verbatim, and the bookkeeping fields below. Fields of a vendor's response go back to that
 * vendor only; fields of a client's request have no vendor and go wherever the request goes.
 */
import { isObject } from '../../../domain/util/json';
import type { JsonObject, VendorPart } from '../../../domain/types/VendorTypes';

export interface ChatVendorFields {
  /** The vendor whose response contained the item. */
  readonly from?: string;
  /** Fields of the chat message that starts with this item. An item that has them always starts a new message. */
  readonly message?: JsonObject;
  /** On reasoning: the message fields that held its text. */
  readonly reasoning_fields?: readonly string[];
  /** On reasoning: the content parts that held its text. */
  readonly reasoning_parts?: readonly JsonObject[];
  /** On calls and results: written in the deprecated form (`function_call`, role `function`). */
  readonly legacy?: boolean;
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  'from',
  'message',
  'reasoning_fields',
  'reasoning_parts',
  'legacy',
] satisfies (keyof ChatVendorFields)[]);
const NONE: JsonObject = {};

interface Carrier {
  readonly vendor?: VendorPart;
}

/** Everything under `vendor.openai`. Untyped, because callers can write it too. */
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

/** The wire object's own fields, without the bookkeeping fields. */
export function ownFieldsOf(fields: JsonObject): JsonObject {
  if (fields === NONE) return NONE;
  const own: JsonObject = {};
  for (const key of Object.keys(fields)) if (!OWN_FIELDS.has(key)) own[key] = fields[key];
  return own;
}

/** @returns a `vendor` part with these fields, or nothing if there are none */
export function withVendorFields(
  fields: JsonObject & ChatVendorFields,
  from: string | undefined,
): { vendor?: VendorPart } {
  for (const _ in fields) return { vendor: { openai: from === undefined ? fields : { from, ...fields } } };
  return {};
}

/** A non-empty string. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A copy of the object without the given keys. */
export function without(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
