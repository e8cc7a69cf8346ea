/**
 * Copies untrusted values into plain frozen data. Every value is read exactly once, so what is used is what was
 * checked.
 */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';

export type Plain = string | number | boolean | null | readonly Plain[] | PlainRecord;
export interface PlainRecord {
  readonly [key: string]: Plain;
}

/** Maximum nesting depth of one item, tool or option. */
export const MAX_DEPTH = 64;
/** Maximum text of one call, keys included, in UTF-16 code units. */
export const MAX_TEXT = 32 * 1024 * 1024;
/** Maximum number of values in one call; a small text can contain millions of brackets. */
const MAX_VALUES = 300_000;

/** What counts towards the limits. */
export interface Size {
  text: number;
  values: number;
}

/** Keys that could reach a prototype when the data is merged or looked up elsewhere. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** @param problem completes a sentence that starts with the path: `must be a string`, `is required` */
export function invalid(path: string, problem: string, cause?: unknown): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${path}" ${problem}.`, cause === undefined ? { path } : { path, cause });
}

export function isRecord(value: Plain | undefined): value is PlainRecord {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isList(value: Plain | undefined): value is readonly Plain[] {
  return Array.isArray(value);
}

/** Reads the values of one call, which share one limit of text and one of values. */
export class PlainReader {
  private text = 0;
  private values = 0;
  private root = '';
  /** From the root to the value that is being read: as many as `depth` says. Lists that shrink and grow are slow. */
  private readonly steps: (string | number)[] = [];
  private depth = 0;
  /** The objects around that value, outermost first: as many as `nesting` says. */
  private readonly ancestors: unknown[] = [];
  private nesting = 0;

  /**
   * A deeply frozen copy. `undefined` fields are left out, as in JSON.
   * @throws LLMInvalidRequestError for anything that JSON cannot hold, reserved keys, lone surrogates, and values that
   *   are too deep or too large
   */
  read(value: unknown, path: string): Plain {
    this.begin(path);
    return this.copy(value);
  }

  /**
   * Reads an element of a list, as `read` does.
   * @param fields of the element, if they have been read already
   */
  readElement(value: unknown, listPath: string, index: number, fields: unknown = value): Plain {
    this.begin(listPath);
    this.steps[0] = index;
    this.depth = 1;
    return this.copy(fields, value);
  }

  /** The own fields of an object, one level deep, for objects whose values are not all data. */
  fields(value: unknown, path: string): ReadonlyMap<string, unknown> {
    this.begin(path);
    if (typeof value !== 'object' || value === null || this.isArray(value))
      throw invalid(path, `must be an object, not ${describe(value)}`);
    const fields = new Map<string, unknown>();
    const keys = this.keysOf(value);
    this.depth = 1;
    for (const key of keys) {
      this.steps[0] = key;
      fields.set(key, this.field(value, key));
    }
    return fields;
  }

  /** The elements of an array, one level deep. */
  elements(value: unknown, path: string): unknown[] {
    this.begin(path);
    if (typeof value !== 'object' || value === null || !this.isArray(value))
      throw invalid(path, `must be an array, not ${describe(value)}`);
    const length = this.lengthOf(value);
    const elements: unknown[] = [];
    try {
      for (let index = 0; index < length; index += 1) elements.push(Reflect.get(value, index));
    } catch (cause) {
      throw this.unreadable(cause);
    }
    return elements;
  }

  /** Counts what was copied without the reader. @returns false, and counts nothing, if it exceeds a limit */
  count({ text, values }: Readonly<Size>): boolean {
    if (this.text + text > MAX_TEXT || this.values + values > MAX_VALUES) return false;
    this.text += text;
    this.values += values;
    return true;
  }

  private begin(path: string): void {
    this.root = path;
    this.depth = 0;
    this.nesting = 0;
  }

  /** @param original the caller's object, of which `value` is a copy already */
  private copy(value: unknown, original = value): Plain {
    this.values += 1;
    if (this.values > MAX_VALUES) throw this.invalid(`exceeds the limit of ${MAX_VALUES} values in a request`);
    switch (typeof value) {
      case 'string':
        return this.string(value);
      case 'number':
        if (!Number.isFinite(value)) throw this.invalid(`must be a finite number, not ${value}`);
        // JSON has no negative zero.
        return value === 0 ? 0 : value;
      case 'boolean':
        return value;
      case 'object':
        return value === null ? null : this.nested(value, original);
      default:
        throw this.invalid(`must be a JSON value, not ${describe(value)}`);
    }
  }

  private string(value: string): string {
    this.text += value.length;
    if (this.text > MAX_TEXT) throw this.invalid(`exceeds the limit of ${MAX_TEXT} characters of text in a request`);
    if (!value.isWellFormed()) throw this.invalid('must be well-formed Unicode, without lone surrogates');
    return value;
  }

  private nested(value: object, original: unknown): Plain {
    const { ancestors, depth, nesting } = this;
    for (let level = 0; level < nesting; level += 1)
      if (ancestors[level] === value) throw this.invalid('must not contain itself');
    if (nesting >= MAX_DEPTH) throw this.invalid(`must not be nested deeper than ${MAX_DEPTH} levels`);
    ancestors[nesting] = original;
    this.nesting = nesting + 1;
    const copy = this.isArray(value) ? this.copyList(value, depth) : this.copyRecord(value, depth);
    this.depth = depth;
    this.nesting = nesting;
    return Object.freeze(copy);
  }

  private copyList(value: object, depth: number): readonly Plain[] {
    const length = this.lengthOf(value);
    const copy: Plain[] = [];
    this.depth = depth + 1;
    for (let index = 0; index < length; index += 1) {
      this.steps[depth] = index;
      const element = this.get(value, index);
      if (element === undefined) throw this.invalid('is missing, and arrays must have no holes');
      copy.push(this.copy(element));
    }
    return copy;
  }

  private copyRecord(value: object, depth: number): PlainRecord {
    const copy: Record<string, Plain> = {};
    const keys = this.keysOf(value);
    this.depth = depth + 1;
    for (const key of keys) {
      this.steps[depth] = key;
      const field = this.field(value, key);
      if (field !== undefined) copy[key] = this.copy(field);
    }
    return copy;
  }

  private field(value: object, key: string): unknown {
    if (RESERVED_KEYS.has(key)) throw this.invalid('is a reserved key, and must be renamed or removed');
    this.string(key);
    return this.get(value, key);
  }

  private keysOf(value: object): string[] {
    let plain: boolean;
    let keys: string[];
    try {
      const prototype: unknown = Object.getPrototypeOf(value);
      // The second test accepts plain objects of other realms.
      plain = prototype === null || Object.getPrototypeOf(prototype) === null;
      keys = Object.keys(value);
    } catch (cause) {
      throw this.unreadable(cause);
    }
    if (!plain) throw this.invalid(`must be a plain object or an array, not ${describe(value)}`);
    return keys;
  }

  private isArray(value: object): boolean {
    try {
      return Array.isArray(value);
    } catch (cause) {
      throw this.unreadable(cause);
    }
  }

  private lengthOf(value: object): number {
    const length = this.get(value, 'length');
    if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0)
      throw this.invalid('must have a valid length');
    if (length > MAX_VALUES)
      throw this.invalid(`has ${length} elements, which exceeds the limit of ${MAX_VALUES} values in a request`);
    return length;
  }

  private get(source: object, key: string | number): unknown {
    try {
      const field: unknown = Reflect.get(source, key);
      return field;
    } catch (cause) {
      throw this.unreadable(cause);
    }
  }

  private unreadable(cause: unknown): LLMInvalidRequestError {
    return this.invalid('could not be read, and must be plain data', cause);
  }

  private invalid(problem: string, cause?: unknown): LLMInvalidRequestError {
    return invalid(this.root + this.steps.slice(0, this.depth).map(formatStep).join(''), problem, cause);
  }
}

/** Describes the type of a value for messages, without revealing its content. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`;
  try {
    if (Array.isArray(value)) return 'an array';
    const name = Object.prototype.toString.call(value).slice('[object '.length, -1);
    return /^\w{1,40}$/.test(name) && name !== 'Object' ? `a ${name} object` : 'an object';
  } catch {
    // A hostile proxy: its type does not matter.
    return 'an unreadable object';
  }
}

/** One step of a JSON path. Long keys are truncated. */
export function formatStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_$][\w$]{0,63}$/.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, 64))}]`;
}
