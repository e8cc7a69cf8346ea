/**
 * Types of the Gemini wire (https://ai.google.dev/api/generate-content), and the mark that preserves the wire form of
 * items.
 */
import { isEmpty, isObject } from '../../../domain/util/json';
import type { JsonObject, VendorPart } from '../../../domain/types/VendorTypes';

/** One of text, functionCall, functionResponse, inlineData, fileData, …, with any number of sibling fields. */
export type GooglePart = JsonObject;

/**
 * The key in `vendor.google` of an item's or part's mark, which describes those aspects of its wire form that the item
 * cannot express. Sibling fields of a part (`thoughtSignature`, `videoMetadata`, unknown ones) are stored flat next to
 * it. No protobuf field can have this name.
 */
export const MARK = '$wire';

export interface GoogleMark {
  /** The item starts a separate content; the fields of that content without its parts. */
  readonly content?: JsonObject;
  /** The role of the content, if it differs from the item type's default. */
  readonly role?: string;
  /** The id of the call or result on the wire. Most calls have none, and then none is sent back. */
  readonly id?: string;
  /** The entire part, verbatim, if the item expresses only some of it. */
  readonly part?: GooglePart;
  /** Written back exactly as the client sent it, with nothing added or dropped. */
  readonly asIs?: boolean;
  /** The data was encoded in the URL-safe base64 alphabet. */
  readonly base64url?: boolean;
  /** The annotations are this wire's own, which are never sent back. */
  readonly cited?: boolean;
  /** The function declaration, verbatim. */
  readonly declaration?: JsonObject;
  /** Index of the tool object that contained this tool. */
  readonly group?: number;
  /** Other fields of that tool object. */
  readonly beside?: JsonObject;
}

interface Carrier {
  readonly vendor?: VendorPart;
}

const NO_MARK: GoogleMark = {};

export function markOf(carrier: Carrier): GoogleMark {
  const mark = carrier.vendor?.google?.[MARK];
  if (!isObject(mark) || !isObjectOrAbsent(mark.part) || !isObjectOrAbsent(mark.content)) return NO_MARK;
  // Only these converters write marks. A client that forges one affects nothing but its own request.
  return mark;
}

function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || isObject(value);
}

/** `vendor.google` without the mark: the part's other fields. */
export function siblingsOf(carrier: Carrier): JsonObject | undefined {
  const fields = carrier.vendor?.google;
  if (fields === undefined || !(MARK in fields)) return fields;
  const { [MARK]: _, ...siblings } = fields;
  return isEmpty(siblings) ? undefined : siblings;
}

/** Returns `{ vendor }` for an item or part, or `{}` if there is nothing to store. */
export function vendorFields(siblings: JsonObject | undefined, mark?: GoogleMark): { vendor?: VendorPart } {
  const marked = mark !== undefined && !isEmpty(mark);
  if (siblings === undefined || isEmpty(siblings)) return marked ? { vendor: { google: { [MARK]: mark } } } : {};
  return { vendor: { google: marked ? { ...siblings, [MARK]: mark } : siblings } };
}

/** Returns the carrier with additional fields in its mark. */
export function withMark<C extends Carrier>(carrier: C, mark: GoogleMark): C {
  return {
    ...carrier,
    vendor: { ...carrier.vendor, google: { ...carrier.vendor?.google, [MARK]: { ...markOf(carrier), ...mark } } },
  };
}

/**
 * Converts the keys of an object to lowerCamelCase, one level deep. The API accepts snake_case as well
 * (https://protobuf.dev/programming-guides/json/).
 */
export function camelCaseKeys(value: JsonObject): JsonObject {
  const keys = Object.keys(value);
  if (!keys.some((key) => key.includes('_'))) return value;
  return Object.fromEntries(keys.map((key) => [toCamelCase(key), value[key]]));
}

function toCamelCase(key: string): string {
  return key.replace(/(?<=[a-zA-Z0-9])_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
