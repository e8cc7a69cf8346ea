/**
 * The shapes of the Gemini wire (https://ai.google.dev/api/generate-content), and the mark by which our items
 * remember their wire form.
 */
import { isEmpty, isObject } from '../../../domain/json';
import type { JsonObject, VendorPart } from '../../../domain/types/VendorTypes';

/** One of text, functionCall, functionResponse, inlineData, fileData, …, and any number of siblings, known or not. */
export type GooglePart = JsonObject;

/**
 * What an item or part knows of its wire form beyond our own words. A part's siblings (`thoughtSignature`,
 * `videoMetadata`, unknown ones) lie flat in `vendor.google`; the mark lies beside them under a name that no field
 * of a proto can have.
 */
export const MARK = '$wire';

export interface GoogleMark {
  /** The item opens a content of its own: that content without its parts. */
  readonly content?: JsonObject;
  /** The role of the content, where the item's kind would say otherwise. */
  readonly role?: string;
  /** The call's or answer's id on the wire. Most calls have none, and then none is sent back. */
  readonly id?: string;
  /** The whole part, verbatim, where our words say only some of it. */
  readonly part?: GooglePart;
  /** Came in a request as it is: nothing is added to it and nothing is left out. */
  readonly asIs?: boolean;
  /** The bytes were written in the URL-safe alphabet. */
  readonly base64url?: boolean;
  /** The annotations are this wire's own, which it never takes back. */
  readonly cited?: boolean;
  /** A declaration, verbatim. */
  readonly declaration?: JsonObject;
  /** Place of the tool object that held this tool. */
  readonly group?: number;
  /** Fields of that tool object for which there is no tool here. */
  readonly beside?: JsonObject;
}

interface Carrier {
  readonly vendor?: VendorPart;
}

const NO_MARK: GoogleMark = {};

export function markOf(carrier: Carrier): GoogleMark {
  const mark = carrier.vendor?.google?.[MARK];
  if (!isObject(mark) || !isObjectOrAbsent(mark.part) || !isObjectOrAbsent(mark.content)) return NO_MARK;
  // Marks are written by these converters only; whoever forges one in a request of his own changes nothing but that
  // request.
  return mark;
}

function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || isObject(value);
}

/** `vendor.google` without the mark: the part's further fields. */
export function siblingsOf(carrier: Carrier): JsonObject | undefined {
  const fields = carrier.vendor?.google;
  if (fields === undefined || !(MARK in fields)) return fields;
  const { [MARK]: _, ...siblings } = fields;
  return isEmpty(siblings) ? undefined : siblings;
}

/** `{ vendor }` for an item or part, or nothing when there is nothing to remember. */
export function vendorFields(siblings: JsonObject | undefined, mark?: GoogleMark): { vendor?: VendorPart } {
  const marked = mark !== undefined && !isEmpty(mark);
  if (siblings === undefined || isEmpty(siblings)) return marked ? { vendor: { google: { [MARK]: mark } } } : {};
  return { vendor: { google: marked ? { ...siblings, [MARK]: mark } : siblings } };
}

/** The carrier with more in its mark. */
export function withMark<C extends Carrier>(carrier: C, mark: GoogleMark): C {
  return {
    ...carrier,
    vendor: { ...carrier.vendor, google: { ...carrier.vendor?.google, [MARK]: { ...markOf(carrier), ...mark } } },
  };
}

/**
 * A message object in the wire's JSON spelling; snake_case is accepted too
 * (https://protobuf.dev/programming-guides/json/). One level deep.
 */
export function camelCaseKeys(value: JsonObject): JsonObject {
  const keys = Object.keys(value);
  if (!keys.some((key) => key.includes('_'))) return value;
  return Object.fromEntries(keys.map((key) => [toCamelCase(key), value[key]]));
}

function toCamelCase(key: string): string {
  return key.replace(/(?<=[a-zA-Z0-9])_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
