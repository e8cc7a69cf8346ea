/**
 * A message of an event stream with gaps where its text is: recognizes messages that say the same with other texts,
 * without parsing them.
 */

type Gap = 'text' | 'padding' | 'number' | 'sequence';

/** The fields that differ between the deltas of one text. OpenAI pads deltas to equal lengths with `obfuscation`. */
const GAPS: ReadonlyMap<string, Gap> = new Map([
  ['delta', 'text'],
  ['content', 'text'],
  ['text', 'text'],
  ['thinking', 'text'],
  ['reasoning', 'text'],
  ['reasoning_content', 'text'],
  ['obfuscation', 'padding'],
  ['created', 'number'],
  ['sequence_number', 'sequence'],
]);

const FIELD = new RegExp(`"(${[...GAPS.keys()].join('|')})":(?:"((?:[^"\\\\]|\\\\.)*)"|(\\d+))`, 'g');

export class MessageTemplate {
  /** Length of the text of the message that was matched last. */
  characters = 0;
  private readonly gaps: Gap[] = [];
  /** The parts before, between and after the gaps. */
  private readonly parts: TemplatePart[] = [];
  private sequence = 0;

  /** @param message with the blank line at its end, a character for each byte (Latin-1) */
  constructor(message: string) {
    let start = 0;
    for (const field of message.matchAll(FIELD)) {
      const [whole, name = '', text, number] = field;
      const gap = GAPS.get(name);
      const isNumber = gap === 'number' || gap === 'sequence';
      if (gap === undefined || isNumber !== (number !== undefined)) continue;
      const value = text ?? number ?? '';
      const end = field.index + whole.length - (isNumber ? 0 : 1);
      this.gaps.push(gap);
      this.parts.push(new TemplatePart(message.slice(start, end - value.length)));
      if (gap === 'sequence') this.sequence = Number(value);
      start = end;
    }
    this.parts.push(new TemplatePart(message.slice(start)));
  }

  /**
   * @param view of the same bytes
   * @returns the position after the message that starts there, or -1 if it is another one
   */
  match(bytes: Uint8Array, view: DataView, position: number): number {
    let at = position;
    let characters = 0;
    for (let index = 0; index < this.parts.length; index += 1) {
      const start = this.parts[index]?.match(view, at) ?? -1;
      if (start === -1) return -1;
      at = start;
      const gap = this.gaps[index];
      if (gap === undefined) break;
      at = gap === 'text' || gap === 'padding' ? endOfString(bytes, start) : endOfNumber(bytes, start);
      if (at === -1) return -1;
      if (gap === 'text') characters += at - start;
      else if (gap === 'sequence' && numberAt(bytes, start, at) !== this.sequence + 1) return -1;
    }
    this.sequence += 1;
    this.characters = characters;
    return at;
  }
}

const WORD = 4;

/** Bytes that all messages have in common. They are most of a message, so they are compared four at a time. */
class TemplatePart {
  private readonly length: number;
  private readonly words: Int32Array;
  /** The bytes after the last complete word. */
  private readonly rest: Uint8Array;

  /** @param text Latin-1 */
  constructor(text: string) {
    const bytes = Buffer.from(text, 'latin1');
    const words = Math.floor(bytes.length / WORD);
    this.length = bytes.length;
    this.words = Int32Array.from({ length: words }, (_, index) => bytes.readInt32LE(index * WORD));
    this.rest = bytes.subarray(words * WORD);
  }

  /** @returns the position after the part, or -1 if other bytes are there */
  match(view: DataView, position: number): number {
    const { words, rest } = this;
    const end = position + this.length;
    if (end > view.byteLength) return -1;
    let at = position;
    for (let index = 0; index < words.length; index += 1, at += WORD)
      if (view.getInt32(at, true) !== words[index]) return -1;
    for (let index = 0; index < rest.length; index += 1) if (view.getUint8(at + index) !== rest[index]) return -1;
    return end;
  }
}

const [QUOTE, BACKSLASH, ZERO, NINE, SPACE, U] = [0x22, 0x5c, 0x30, 0x39, 0x20, 0x75];
const SIMPLE_ESCAPES: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\/bfnrt'));
const MAX_DIGITS = 15;

/** @returns the position of the closing quote, or -1 for what JSON does not permit in a string */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < SPACE) return -1;
    if (byte !== BACKSLASH) continue;
    at += 1;
    if (bytes[at] === U) {
      if (!isHex(bytes, at + 1)) return -1;
      at += 4;
    } else if (!SIMPLE_ESCAPES.has(bytes[at])) return -1;
  }
  return -1;
}

function isHex(bytes: Uint8Array, start: number): boolean {
  return /^[\da-f]{4}$/i.test(String.fromCharCode(...bytes.subarray(start, start + 4)));
}

/** @returns the position after the digits, or -1 if there are none or too many */
function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at] ?? 0)) at += 1;
  return at === start || at - start > MAX_DIGITS || (bytes[start] === ZERO && at - start > 1) ? -1 : at;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function numberAt(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) number = number * 10 + (bytes[at] ?? 0) - ZERO;
  return number;
}
