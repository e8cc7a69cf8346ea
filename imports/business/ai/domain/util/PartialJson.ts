/**
 * Parses JSON that arrives in pieces, from its first bracket on. No text is parsed twice, and complete elements by
 * `JSON.parse`, many at a time, so a value costs little more than if it were parsed whole.
 */

/** A list or an object whose end has not arrived. Places are indexes in the text. */
interface OpenContainer {
  isList: boolean;
  /** The place of its bracket. */
  start: number;
  /** Absent before any of it is in the value. */
  value: Container | undefined;
  /** Where the elements begin that are not in the value yet. */
  from: number;
  /** The place of the last comma between them; -1 if there is none. */
  comma: number;
}
type Container = unknown[] | Record<string, unknown>;

interface ShownString {
  /** Empty in a list. */
  readonly key: string;
  text: string;
}

const [QUOTE, COMMA, BACKSLASH, LETTER_U] = [0x22, 0x2c, 0x5c, 0x75];
const [LIST_START, OBJECT_START, OBJECT_END, BRACE_BIT] = [0x5b, 0x7b, 0x7d, 0x20];

/** Text is read once there is this much more of it: of a value of 1 MB, 8 KB at a time. */
const GROWTH = 1 / 128;
/** Values that are nested deeper, or longer, are not structured output. */
const MAX_DEPTH = 64;
const MAX_LENGTH = 10 * 1024 * 1024;

export class PartialJson {
  /**
   * The value so far, the same object each time: elements are added to it, and its last string grows. Numbers, booleans
   * and null are added when they are complete. Undefined before the first bracket.
   */
  value: unknown;
  /** The text that is not in the value yet. */
  private text = '';
  private scanned = 0;
  private length = 0;
  /** The open containers up to `depth`, outermost first; the others are reused. */
  private readonly containers: OpenContainer[] = [];
  private depth = 0;
  /** Where the unread text of the present string begins; -1 outside of strings. */
  private stringFrom = -1;
  private lastEscape = -1;
  /** The present string, if its beginning is in the value. */
  private shown: ShownString | undefined;
  private hasGrown = false;
  private isOver = false;

  /** @returns whether the value has grown; it no longer does after text that is not JSON */
  push(piece: string): boolean {
    if (this.isOver) return false;
    this.text += piece;
    this.length += piece.length;
    return this.text.length - this.scanned >= this.length * GROWTH && this.read();
  }

  /** Reads the rest. @returns as `push` does */
  end(): boolean {
    return !this.isOver && this.read();
  }

  private read(): boolean {
    this.hasGrown = false;
    try {
      this.scan();
      this.show();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.isOver = true;
    }
    this.isOver ||= this.length > MAX_LENGTH;
    return this.hasGrown;
  }

  private scan(): void {
    const { text } = this;
    const { length } = text;
    let at = this.scanned;
    for (; at < length && !this.isOver; at += 1) {
      if (this.stringFrom === -1) {
        // All but numbers, names and white space. The brackets of lists and objects differ in one bit.
        let unit = 0;
        for (; at < length; at += 1) {
          unit = text.charCodeAt(at);
          if (unit === QUOTE || unit === COMMA) break;
          if ((unit | BRACE_BIT) === OBJECT_START || (unit | BRACE_BIT) === OBJECT_END) break;
        }
        if (unit !== QUOTE || this.depth === 0) {
          if (at < length) this.readSign(unit, at);
          continue;
        }
        at += 1;
        this.stringFrom = at;
      }
      for (; at < length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit === QUOTE) break;
        if (unit !== BACKSLASH) continue;
        if (at + 1 === length) break;
        this.lastEscape = at;
        at += 1;
      }
      if (at >= length || text.charCodeAt(at) !== QUOTE) break;
      if (this.shown !== undefined) this.endString(this.shown, at);
      this.stringFrom = -1;
    }
    this.scanned = Math.min(at, length);
  }

  private readSign(unit: number, at: number): void {
    if (unit === LIST_START || unit === OBJECT_START) this.open(unit === LIST_START, at);
    else if (this.depth === 0) return;
    else if (unit === COMMA) this.at(this.depth - 1).comma = at;
    else this.close(at);
  }

  private endString(shown: ShownString, end: number): void {
    const last = this.at(this.depth - 1);
    this.growString(last, shown, end);
    last.from = end + 1;
    this.shown = undefined;
  }

  private open(isList: boolean, start: number): void {
    if (this.depth === MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
    const container = (this.containers[this.depth] ??= { isList, start, value: undefined, from: 0, comma: -1 });
    container.isList = isList;
    container.start = start;
    container.value = undefined;
    container.from = start + 1;
    container.comma = -1;
    this.depth += 1;
  }

  private close(end: number): void {
    this.depth -= 1;
    const { value, start } = this.at(this.depth);
    if (value !== undefined) this.add(this.at(this.depth), value, end);
    if (this.depth > 0) {
      if (value === undefined) return;
      const parent = this.at(this.depth - 1);
      parent.from = end + 1;
      parent.comma = -1;
      return;
    }
    this.isOver = true;
    this.hasGrown = true;
    this.value = value ?? JSON.parse(this.text.slice(start, end + 1));
  }

  /** Brings the value up to what was scanned, and forgets its text. */
  private show(): void {
    if (this.depth === 0) return;
    for (let index = 0; index < this.depth; index += 1) {
      const container = this.at(index);
      container.value ??= this.begin(container, index === 0 ? undefined : this.at(index - 1));
      if (container.comma === -1) continue;
      this.add(container, container.value, container.comma);
      container.from = container.comma + 1;
      container.comma = -1;
    }
    const last = this.at(this.depth - 1);
    if (this.stringFrom !== -1) this.showString(last);
    const done = this.shown === undefined ? last.from : this.stringFrom;
    this.text = this.text.slice(done);
    this.scanned -= done;
    this.lastEscape -= done;
    last.from -= done;
    if (this.stringFrom !== -1) this.stringFrom -= done;
  }

  private begin(container: OpenContainer, parent: OpenContainer | undefined): Container {
    const value = container.isList ? [] : {};
    this.hasGrown = true;
    if (parent?.value === undefined) this.value = value;
    else if (Array.isArray(parent.value)) parent.value.push(value);
    else setProperty(parent.value, this.keyIn(parent, container.start), value);
    return value;
  }

  /** Adds the elements between `from` and the place `end`. */
  private add(container: OpenContainer, value: Container, end: number): void {
    const elements = this.textIn(container, end);
    if (elements === '') return;
    this.hasGrown = true;
    if (Array.isArray(value)) for (const element of JSON.parse(`[${elements}]`) as unknown[]) value.push(element);
    else {
      const properties = JSON.parse(`{${elements}}`) as Record<string, unknown>;
      for (const key of Object.keys(properties)) setProperty(value, key, properties[key]);
    }
  }

  private showString(container: OpenContainer): void {
    if (this.shown === undefined) {
      const start = this.stringFrom - 1;
      // The string is a key.
      if (!container.isList && this.textIn(container, start) === '') return;
      this.shown = { key: container.isList ? '' : this.keyIn(container, start), text: '' };
      if (Array.isArray(container.value)) container.value.push('');
    }
    const { text, lastEscape } = this;
    const isCut = text.charCodeAt(lastEscape + 1) === LETTER_U && lastEscape + 6 > text.length;
    this.growString(container, this.shown, isCut && lastEscape >= this.stringFrom ? lastEscape : this.scanned);
  }

  /** Adds the string's text up to the place `end`. */
  private growString({ value }: OpenContainer, shown: ShownString, end: number): void {
    const piece = this.text.slice(this.stringFrom, end);
    this.stringFrom = end;
    this.hasGrown = true;
    shown.text += piece.includes('\\') ? (JSON.parse(`"${piece}"`) as string) : piece;
    if (Array.isArray(value)) value[value.length - 1] = shown.text;
    else if (value !== undefined) setProperty(value, shown.key, shown.text);
  }

  private keyIn(container: OpenContainer, end: number): string {
    const [key = ''] = Object.keys(JSON.parse(`{${this.textIn(container, end)}0}`) as object);
    return key;
  }

  /** The elements from `from` to the place `end`, without the comma after what was read before. */
  private textIn({ from }: OpenContainer, end: number): string {
    const text = this.text.slice(from, end).trim();
    return text.startsWith(',') ? text.slice(1).trim() : text;
  }

  private at(index: number): OpenContainer {
    const container = this.containers[index];
    if (container === undefined) throw new RangeError(`There is no open container ${index}.`);
    return container;
  }
}

/** Structured output refuses a key that could change an object's prototype. */
function setProperty(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
}
