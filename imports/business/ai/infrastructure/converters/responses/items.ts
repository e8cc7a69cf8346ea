/**
 * Converts items and content parts between the Responses API and the domain model. The formats are nearly the same, so
 * most objects pass unchanged. What the domain model cannot hold (nulls, wire fields named like domain fields) is set
 * aside in `vendor.openai_responses` and restored on the way back.
 * https://platform.openai.com/docs/api-reference/responses/object, https://www.openresponses.org
 */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isObject } from '../../../domain/util/json';
import { SCHEME_OF_WIRE } from '../../../domain/types/VendorTypes';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin, VendorPart } from '../../../domain/types/VendorTypes';

/** Where an item comes from, and how to report that it is invalid. */
export interface ItemSource {
  /**
   * The vendor that created the item; absent for a client, which may send back `vendor` and `origin` as we wrote
   * them.
   */
  readonly origin?: Origin;
  /** Creates the error for an invalid value at a JSON path. */
  readonly invalid: (path: string, what: string) => LLMError;
}

/** @throws the error of `source.invalid` for a value that is not an item */
export function readItem(raw: unknown, path: string, source: ItemSource): Item {
  if (!isObject(raw)) throw source.invalid(path, 'is not an object');
  // Only a client refers to an item by nothing but its id.
  const type =
    raw.type ??
    (raw.role === undefined ? undefined : 'message') ??
    (typeof raw.id === 'string' && source.origin === undefined ? 'item_reference' : undefined);
  if (typeof type !== 'string') throw source.invalid(`${path}.type`, 'is not a string');
  const typed = type === raw.type ? raw : { ...raw, type };
  // The cast is safe: `convertFields` checks the fields that each type requires.
  return convertFields(withValidId(typed, path, source), type, path, source) as unknown as Item;
}

/** Items are stored and found by their ids. An answer of a vendor is paid for, so its item loses an invalid id. */
function withValidId(raw: JsonObject, path: string, source: ItemSource): JsonObject {
  const { id } = raw;
  if (id === undefined || id === null || typeof id === 'string') return raw;
  if (source.origin !== undefined) return { ...raw, id: null };
  throw source.invalid(`${path}.id`, 'is not a string. Send the id that the item was created with, or leave it out');
}

function convertFields(raw: JsonObject, type: string, path: string, source: ItemSource): JsonObject {
  switch (type) {
    case 'message':
      if (typeof raw.role !== 'string') throw source.invalid(`${path}.role`, 'is not a string');
      return setAsideReserved(
        raw,
        {
          content: readParts(
            raw.content,
            raw.role === 'assistant' ? 'output_text' : 'input_text',
            `${path}.content`,
            source,
          ),
        },
        RESERVED,
        source,
      );
    case 'function_call':
      return setAsideReserved(
        raw,
        {
          call_id: text(raw, 'call_id', path, source),
          name: text(raw, 'name', path, source),
          arguments: argumentsOf(raw, path, source),
        },
        RESERVED_IN_CALLS,
        source,
      );
    case 'function_call_output': {
      const output =
        typeof raw.output === 'string' ? raw.output : readParts(raw.output, 'input_text', `${path}.output`, source);
      return setAsideReserved(
        raw,
        { call_id: text(raw, 'call_id', path, source), output },
        RESERVED_IN_OUTPUTS,
        source,
      );
    }
    case 'reasoning': {
      const item = source.origin === undefined ? withoutNullContent(raw) : raw;
      return withOrigin(setAsideReserved(item, reasoningTexts(item, path, source), RESERVED, source), source);
    }
    case 'compaction':
      return withOrigin(
        setAsideReserved(raw, { encrypted_content: text(raw, 'encrypted_content', path, source) }, RESERVED, source),
        source,
      );
    case 'vendor_item':
      if (source.origin === undefined && isOrigin(raw.origin) && isObject(raw.item)) return raw;
      return { type, origin: source.origin ?? { wire: 'responses' }, item: raw };
    default:
      return withOrigin(setAsideReserved(raw, {}, RESERVED, source, HOSTED_TEXTS), source);
  }
}

/** The item as the wire writes it: without the domain's own fields, and with the fields that were set aside. */
export function wireForm(item: Item): JsonObject {
  if (item.type === 'vendor_item') return item.item;
  // The cast is safe: items are plain JSON objects.
  let form = restoreReserved(item as unknown as JsonObject, reservedIn(item));
  for (const name of listsOfParts(item)) {
    const parts = form[name];
    if (!Array.isArray(parts) || !parts.some(holdsReservedPart)) continue;
    const released = parts.map((part: unknown) => (isObject(part) ? restoreReserved(part, RESERVED_IN_PARTS) : part));
    form = { ...form, [name]: released };
  }
  return form;
}

/** Hosted items pass unchanged: their lists belong to the vendor. */
function listsOfParts(item: Item): readonly string[] {
  switch (item.type) {
    case 'message':
      return ['content'];
    case 'function_call_output':
      return ['output'];
    case 'reasoning':
      return ['summary', 'content'];
    default:
      return [];
  }
}

const RESERVED: ReadonlySet<string> = new Set(['vendor', 'origin']);
const RESERVED_IN_CALLS: ReadonlySet<string> = new Set(['vendor', 'origin', 'native']);
const RESERVED_IN_PARTS: ReadonlySet<string> = new Set(['vendor']);
const RESERVED_IN_OUTPUTS: ReadonlySet<string> = new Set(['vendor', 'origin', 'deferred', 'name', 'state']);

function reservedIn({ type }: Item): ReadonlySet<string> {
  switch (type) {
    case 'function_call':
      return RESERVED_IN_CALLS;
    case 'function_call_output':
      return RESERVED_IN_OUTPUTS;
    default:
      return RESERVED;
  }
}

/** The only fields of hosted items that the domain model types; all others may have any value. */
const HOSTED_TEXTS: ReadonlySet<string> = new Set(['id', 'status']);

/**
 * Applies the checked fields and sets reserved and null fields aside.
 * @param notNull the fields that must not be null; all fields if absent
 * @returns the object itself if nothing changes, else a shallow copy
 */
function setAsideReserved(
  raw: JsonObject,
  checked: JsonObject,
  reserved: ReadonlySet<string>,
  source: ItemSource,
  notNull?: ReadonlySet<string>,
): JsonObject {
  const keys = Object.keys(raw);
  // Most objects pass unchanged, or with their text as a part.
  if (hasNothingToSetAside(raw, keys, reserved, notNull)) return holds(raw, checked) ? raw : { ...raw, ...checked };
  const isRoundTripped = (key: string): boolean =>
    source.origin === undefined &&
    ((key === 'vendor' && isVendorPart(raw.vendor)) || (key === 'origin' && isOrigin(raw.origin)));
  const setAside = keys.filter(
    (key) =>
      (reserved.has(key) && !isRoundTripped(key)) || (raw[key] === null && (notNull === undefined || notNull.has(key))),
  );
  const changed = Object.keys(checked).filter((key) => raw[key] !== checked[key]);
  if (setAside.length === 0 && changed.length === 0) return raw;
  const retained = keys.filter((key) => !setAside.includes(key));
  const fields = Object.fromEntries([...entriesOf(raw, retained), ...entriesOf(checked, changed)]);
  if (setAside.length === 0) return fields;
  const vendor: VendorPart = isRoundTripped('vendor') ? (raw.vendor as VendorPart) : {};
  return {
    ...fields,
    vendor: {
      ...vendor,
      openai_responses: { ...vendor.openai_responses, ...Object.fromEntries(entriesOf(raw, setAside)) },
    },
  };
}

function hasNothingToSetAside(
  raw: JsonObject,
  keys: readonly string[],
  reserved: ReadonlySet<string>,
  notNull: ReadonlySet<string> | undefined,
): boolean {
  for (const key of keys)
    if (reserved.has(key) || (raw[key] === null && (notNull === undefined || notNull.has(key)))) return false;
  return true;
}

/** Whether the object has these very values. */
function holds(raw: JsonObject, fields: JsonObject): boolean {
  for (const key of Object.keys(fields)) if (raw[key] !== fields[key]) return false;
  return true;
}

function entriesOf(fields: JsonObject, keys: readonly string[]): (readonly [string, unknown])[] {
  return keys.map((key) => [key, fields[key]] as const);
}

function holdsReservedPart(part: unknown): boolean {
  return isObject(part) && holdsAny(part, RESERVED_IN_PARTS);
}

function holdsAny(fields: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in fields) if (names.has(name)) return true;
  return false;
}

function restoreReserved(fields: JsonObject, reserved: ReadonlySet<string>): JsonObject {
  if (!holdsAny(fields, reserved)) return fields;
  const own = Object.fromEntries(Object.entries(fields).filter(([key]) => !reserved.has(key)));
  const verbatim = isObject(fields.vendor) ? fields.vendor.openai_responses : undefined;
  return isObject(verbatim) ? { ...own, ...verbatim } : own;
}

function withOrigin(item: JsonObject, source: ItemSource): JsonObject {
  return source.origin === undefined ? item : { origin: source.origin, ...item };
}

/** A string is read as a single part. Parts of unknown, newer types pass unchanged. */
function readParts(
  value: unknown,
  typeOfText: 'input_text' | 'output_text',
  path: string,
  source: ItemSource,
): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string')
    return [
      typeOfText === 'output_text'
        ? { type: typeOfText, text: value, annotations: [] }
        : { type: typeOfText, text: value },
    ];
  return mapIfChanged(value, path, source, readPart);
}

function readPart(raw: unknown, path: string, source: ItemSource): JsonObject {
  if (!isObject(raw)) throw source.invalid(path, 'is not an object');
  switch (raw.type) {
    case 'input_text':
    case 'reasoning_text':
    case 'summary_text':
      return setAsideReserved(raw, { text: text(raw, 'text', path, source) }, RESERVED_IN_PARTS, source);
    case 'output_text':
      return setAsideReserved(
        raw,
        { text: text(raw, 'text', path, source), annotations: list(raw, 'annotations', path, source) },
        RESERVED_IN_PARTS,
        source,
      );
    case 'refusal':
      return setAsideReserved(raw, { refusal: text(raw, 'refusal', path, source) }, RESERVED_IN_PARTS, source);
    default:
      if (typeof raw.type !== 'string') throw source.invalid(`${path}.type`, 'is not a string');
      return setAsideReserved(raw, {}, RESERVED_IN_PARTS, source);
  }
}

/** Codex returns reasoning with `content: null`, for which the schemas of the vendors have no place. */
function withoutNullContent(raw: JsonObject): JsonObject {
  if (raw.content !== null) return raw;
  const { content: _, ...item } = raw;
  return item;
}

function reasoningTexts(raw: JsonObject, path: string, source: ItemSource): JsonObject {
  const summary = mapIfChanged(list(raw, 'summary', path, source), `${path}.summary`, source, readPart);
  return raw.content === undefined || raw.content === null
    ? { summary }
    : { summary, content: mapIfChanged(raw.content, `${path}.content`, source, readPart) };
}

/** Absent arguments are read as an empty string. */
function argumentsOf(raw: JsonObject, path: string, source: ItemSource): string {
  return raw.arguments === undefined || raw.arguments === null ? '' : text(raw, 'arguments', path, source);
}

function text(raw: JsonObject, key: string, path: string, source: ItemSource): string {
  const value = raw[key];
  if (typeof value !== 'string') throw source.invalid(`${path}.${key}`, 'is not a string');
  return value;
}

function list(raw: JsonObject, key: string, path: string, source: ItemSource): readonly unknown[] {
  const value = raw[key] ?? [];
  if (!Array.isArray(value)) throw source.invalid(`${path}.${key}`, 'is not a list');
  return value as readonly unknown[];
}

function mapIfChanged(
  value: unknown,
  path: string,
  source: ItemSource,
  read: (each: unknown, path: string, source: ItemSource) => unknown,
): readonly unknown[] {
  if (!Array.isArray(value)) throw source.invalid(path, 'is not a list');
  const mapped: readonly unknown[] = value.map((each: unknown, index) => read(each, `${path}[${index}]`, source));
  return mapped.every((each, index) => each === value[index]) ? (value as readonly unknown[]) : mapped;
}

const SCHEMES: ReadonlySet<string> = new Set(Object.values(SCHEME_OF_WIRE));

function isVendorPart(value: unknown): value is VendorPart {
  return (
    isObject(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(([scheme, fields]) => SCHEMES.has(scheme) && isObject(fields))
  );
}

function isOrigin(value: unknown): value is Origin {
  if (!isObject(value) || typeof value.wire !== 'string' || !Object.hasOwn(SCHEME_OF_WIRE, value.wire)) return false;
  return [value.vendor, value.model].every((name) => name === undefined || typeof name === 'string');
}
