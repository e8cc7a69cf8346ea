/**
 * Recognizes items that are already normalized, as nearly all are in a long history, so that they need no conversion.
 */
import { isList, isRecord } from './PlainReader';
import type { Plain, PlainReader, Size } from './PlainReader';
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  InputText,
  MessageItem,
  OutputText,
} from '../../../domain/types/ResponsesAPITypes';

type NormalItem = MessageItem | FunctionCallItem | FunctionCallOutputItem;

/**
 * @returns the item itself if all of its fields are known and valid, or undefined if it must be converted or rejected
 */
export function normalizedItem(source: Plain): NormalItem | undefined {
  // The fields were checked one by one, so the item has the type.
  return isRecord(source) && isWritten(source) ? (source as unknown as NormalItem) : undefined;
}

/**
 * Copies the fields of a plain object, each of which is read once.
 * @returns undefined for anything else, and for what cannot be read
 */
export function copyFields(given: unknown): Record<string, Plain> | undefined {
  try {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
    const prototype: unknown = Object.getPrototypeOf(given);
    if (prototype !== Object.prototype && prototype !== null) return undefined;
    const fields: Record<string, Plain> = { ...given };
    // JSON has no symbols.
    return Object.getOwnPropertySymbols(fields).length === 0 ? fields : Object.fromEntries(Object.entries(fields));
  } catch {
    return undefined;
  }
}

/**
 * Checks the copied fields of an item that holds only texts, flags, parts of them, and empty lists, as most do, and
 * copies its parts.
 * @returns undefined for any other item, whose fields are then for `reader` to read
 */
export function adoptNormalItem(fields: Record<string, Plain>, reader: PlainReader): NormalItem | undefined {
  const copying = { reader, text: 0, values: 1 };
  try {
    if (!isWritten(fields, copying) || !reader.count(copying)) return undefined;
  } catch {
    // A hostile list: the reader says where it is.
    return undefined;
  }
  // The fields were checked one by one, so the item has the type.
  return Object.freeze(fields) as unknown as NormalItem;
}

/** Puts copies in the place of the parts, as far as they are normal. @returns whether all are */
function adoptParts(parts: Plain[], shape: Shape, copying: Copying): boolean {
  for (let index = 0; index < parts.length; index += 1) {
    const part = copyFields(parts[index]);
    if (part === undefined) return false;
    parts[index] = part;
    if (!has(shape, part, copying)) return false;
    copying.values += 1;
    Object.freeze(part);
  }
  Object.freeze(parts);
  return true;
}

/** What has been copied of an item so far. */
interface Copying extends Size {
  readonly reader: PlainReader;
}

/** @param copying absent: the item has been copied, with all that it holds; else its lists are replaced by copies */
function isWritten(source: Record<string, Plain>, copying?: Copying): boolean {
  switch (source.type) {
    case 'message':
      return isMessage(source, copying);
    case 'function_call':
      return has(CALL, source, copying);
    case 'function_call_output':
      return has(OUTPUT, source, copying);
    default:
      return false;
  }
}

type Check = (value: Plain) => boolean;

interface Shape {
  readonly checks: ReadonlyMap<string, Check>;
  readonly needed: readonly string[];
}

/** Makes the compiler report a forgotten field. */
function shape<T>(
  needed: Readonly<Record<Needed<T>, Check>>,
  others: Readonly<Record<Exclude<keyof T & string, Needed<T>>, Check>>,
): Shape {
  return { checks: new Map(Object.entries<Check>({ ...needed, ...others })), needed: Object.keys(needed) };
}

type Needed<T> = { [K in keyof T & string]-?: object extends Pick<T, K> ? never : K }[keyof T & string];

const isText: Check = (value) => typeof value === 'string';
const isName: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
/** `vendor` and `native` hold objects by name. */
const holdsRecords: Check = (value) => isRecord(value) && Object.values(value).every(isRecord);

const CALL = shape<FunctionCallItem>(
  { type: isText, call_id: isName, name: isText, arguments: isText },
  { id: isText, status: isText, async: isFlag, caller: isRecord, native: holdsRecords, vendor: holdsRecords },
);
const OUTPUT = shape<FunctionCallOutputItem>(
  { type: isText, call_id: isName, output: isText },
  { id: isText, status: isText, deferred: isFlag, name: isText, state: isText, caller: isRecord, vendor: holdsRecords },
);
const MESSAGE = shape<MessageItem>(
  { type: isText, role: isText, content: isList },
  { id: isText, status: isText, phase: isText, vendor: holdsRecords },
);
const INPUT_TEXT = shape<InputText>(
  { type: (value) => value === 'input_text', text: isText },
  { vendor: holdsRecords },
);
const OUTPUT_TEXT = shape<OutputText>(
  {
    type: (value) => value === 'output_text',
    text: isText,
    annotations: (value) => isList(value) && value.every(isRecord),
  },
  { logprobs: isList, vendor: holdsRecords },
);

/** The role, not the part's own type, determines whether text belongs to the assistant. */
const TEXTS: Readonly<Record<string, Shape>> = {
  user: INPUT_TEXT,
  developer: INPUT_TEXT,
  system: INPUT_TEXT,
  assistant: OUTPUT_TEXT,
};

function isMessage(source: Record<string, Plain>, copying: Copying | undefined): boolean {
  const { role, content } = source;
  const text = typeof role === 'string' && Object.hasOwn(TEXTS, role) ? TEXTS[role] : undefined;
  if (text === undefined || !isList(content) || !has(MESSAGE, source, copying)) return false;
  if (copying === undefined) return content.every((part) => isRecord(part) && has(text, part));
  const parts = copying.reader.elements(content, 'content') as Plain[];
  source.content = parts;
  return adoptParts(parts, text, copying);
}

function has({ checks, needed }: Shape, source: Record<string, Plain>, copying?: Copying): boolean {
  for (const key of Object.keys(source)) {
    if (copying !== undefined && !copyField(source, key, copying)) return false;
    if (checks.get(key)?.(source[key] ?? null) !== true) return false;
  }
  for (const key of needed) if (source[key] === undefined) return false;
  return true;
}

/** Nothing of a nested value is read here but the elements of a list. @returns false for one that is not empty */
function copyField(source: Record<string, Plain>, key: string, copying: Copying): boolean {
  const value = source[key];
  copying.values += 1;
  copying.text += key.length;
  if (typeof value === 'string') {
    copying.text += value.length;
    return value.isWellFormed();
  }
  if (typeof value !== 'object' || key === 'content') return true;
  if (!isList(value)) return false;
  const elements = copying.reader.elements(value, key) as Plain[];
  source[key] = Object.freeze(elements);
  return elements.length === 0;
}
