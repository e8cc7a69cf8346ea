/**
 * Documents as text: JSON in which `{"$$date": 5}` is a date, and a long text is replaced by its name. Documents have
 * no field whose name contains "$".
 */
import { LargeText, nameOfText } from '../query/LargeText';
import type { TextSource } from '../query/LargeText';
import { isRecord } from '../query/fieldPaths';

/** UTF-16 code units from which on a text is stored apart from its document. */
const LARGE_TEXT_LENGTH = 8 * 1_024;

const REFERENCE = '\0large:';
/** Before a short text that begins like a reference. */
const PLAIN = '\0plain:';
const REFERENCE_PATTERN = new RegExp(`^${REFERENCE}([0-9a-f]{64}):(\\d+)$`);
/** Whether the JSON has a date, or a text that begins with a zero byte. */
const HAS_ENCODED = /"\$\$date"|"\\u0000/;

export interface EncodedDocument {
  readonly text: string;
  /** By name, those that are not stored yet. */
  readonly newTexts: ReadonlyMap<string, string>;
  /** The names of all of them. */
  readonly texts: ReadonlySet<string>;
}

export function encodeDocument(document: object): EncodedDocument {
  const newTexts = new Map<string, string>();
  const texts = new Set<string>();
  const encodeText = (text: string): string => {
    if (text.length >= LARGE_TEXT_LENGTH) {
      const content = Buffer.from(text);
      const name = nameOfText(content);
      newTexts.set(name, text);
      texts.add(name);
      return `${REFERENCE}${name}:${content.length}`;
    }
    return text.startsWith(REFERENCE) || text.startsWith(PLAIN) ? PLAIN + text : text;
  };
  const encode = (value: unknown): unknown => {
    if (typeof value === 'string') return encodeText(value);
    if (value instanceof Date) return { $$date: value.getTime() };
    if (value instanceof LargeText) {
      texts.add(value.name);
      return `${REFERENCE}${value.name}:${value.bytes}`;
    }
    if (Array.isArray(value)) return value.map(encode);
    return isRecord(value) ? encodeFields(value) : value;
  };
  /** Returns the same object if nothing in it is changed. */
  const encodeFields = (value: Readonly<Record<string, unknown>>): unknown => {
    let changed: Record<string, unknown> | undefined;
    for (const name in value) {
      const field = value[name];
      const encoded = encode(field);
      if (encoded !== field) (changed ??= { ...value })[name] = encoded;
    }
    return changed ?? value;
  };
  return { text: JSON.stringify(encode(document)), newTexts, texts };
}

/** @param sourceOf where a long text is read */
export function decodeDocument(text: string, sourceOf: (name: string) => TextSource): unknown {
  const document: unknown = JSON.parse(text);
  return HAS_ENCODED.test(text) ? decodeValue(document, sourceOf) : document;
}

function decodeValue(value: unknown, sourceOf: (name: string) => TextSource): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith('\0')) return value;
    if (value.startsWith(PLAIN)) return value.slice(PLAIN.length);
    const [, name, bytes] = REFERENCE_PATTERN.exec(value) ?? [];
    return name === undefined ? value : new LargeText(name, Number(bytes), sourceOf(name));
  }
  if (Array.isArray(value)) return value.map((element: unknown) => decodeValue(element, sourceOf));
  if (!isRecord(value)) return value;
  if (typeof value['$$date'] === 'number') return new Date(value['$$date']);
  const fields = value as Record<string, unknown>;
  for (const name in fields) fields[name] = decodeValue(fields[name], sourceOf);
  return fields;
}
