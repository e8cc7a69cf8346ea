/**
 * The one reader of untrusted arguments, field by field. A value that is unknown, of the wrong type or too large throws
 * an `LLMInvalidRequestError` whose `path` names the field and whose message states what is expected.
 *
 * ```ts
 * const fields = readObject(argument, ['providerId', 'limit']);
 * return {
 *   providerId: required(fields, 'providerId', identifier(128)),
 *   ...optional(fields, 'limit', integer(1, 100)),
 * };
 * ```
 */
import { LLMInvalidRequestError } from '../errors/LLMErrors';
import { isList, isObject } from './json';
import type { JsonObject } from '../types/VendorTypes';
import { parseUrl } from './parseUrl';

/**
 * Checks one value and returns it with its type.
 * @param path where the value is, such as `limits.requests` or `tools[2]`; the empty string is the argument itself
 */
export type ArgumentReader<T> = (value: unknown, path: string) => T;

/** Levels of nesting that `json` accepts. */
const MAX_DEPTH = 64;

/** Characters of a client's field name that a message repeats. */
const MAX_NAME_SHOWN = 60;

/** @throws LLMInvalidRequestError unless `value` is a plain object that has no other fields than these */
export function readObject(value: unknown, fields: readonly string[], path = ''): JsonObject {
  if (!isPlainObject(value)) throw invalid(path, 'must be an object');
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw unknownField(unknown, fields, path);
  return value;
}

/** @throws LLMInvalidRequestError if the field is missing or `read` rejects it */
export function required<T>(fields: JsonObject, name: string, read: ArgumentReader<T>, path = name): T {
  const value = fields[name];
  if (value === undefined) throw invalid(path, 'is required');
  return read(value, path);
}

/** `{ [name]: value }`, or `{}` if the field is missing: for spreading into an object with optional fields. */
export function optional<N extends string, T>(
  fields: JsonObject,
  name: N,
  read: ArgumentReader<T>,
  path: string = name,
): { readonly [K in N]?: T } {
  const value = fields[name];
  // A computed key loses its literal type.
  return value === undefined ? {} : ({ [name]: read(value, path) } as { readonly [K in N]: T });
}

/** The field's value, or `undefined` if the field is missing. */
export function optionalValue<T>(
  fields: JsonObject,
  name: string,
  read: ArgumentReader<T>,
  path = name,
): T | undefined {
  const value = fields[name];
  return value === undefined ? undefined : read(value, path);
}

/** An id or a name: neither blanks nor invisible characters. */
export function identifier(maxLength: number): ArgumentReader<string> {
  return (value, path) => {
    if (typeof value === 'string' && value.length <= maxLength && /^[^\s\p{C}]+$/u.test(value)) return value;
    throw invalid(path, `must be 1 to ${maxLength} visible characters without spaces`);
  };
}

/** Any string, the empty one included. */
export function text(maxLength: number): ArgumentReader<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw invalid(path, 'must be a string');
    if (value.length > maxLength) throw invalid(path, `must be no longer than ${maxLength} characters`);
    return value;
  };
}

/** One line for people to read, such as a name: not blank, and without control characters or lone surrogates. */
export function line(maxLength: number): ArgumentReader<string> {
  return (value, path) => {
    const given = text(maxLength)(value, path);
    if (given.trim() === '') throw invalid(path, 'must not be blank');
    if (/\p{Cc}/u.test(given) || !given.isWellFormed())
      throw invalid(path, 'must be one line of plain text without control characters');
    return given;
  };
}

/** A credential that is sent in an HTTP header, hence printable ASCII. The message never repeats it. */
export function secret(maxLength: number): ArgumentReader<string> {
  return (value, path) => {
    if (typeof value === 'string' && value.length <= maxLength && /^[\x21-\x7e]+$/.test(value)) return value;
    throw invalid(path, `must be 1 to ${maxLength} printable ASCII characters without spaces`);
  };
}

/** Which URLs may be plain http. */
export type HttpRule = (url: URL) => boolean;

/** A URL without credentials and fragment, returned as it was written. */
export function webUrl(maxLength: number, { allowHttp }: { readonly allowHttp: HttpRule }): ArgumentReader<string> {
  return (value, path) => {
    const given = line(maxLength)(value, path);
    const url = parseUrl(given);
    const mayBeHttp = url !== undefined && allowHttp(url);
    const isWeb = url?.protocol === 'https:' || (mayBeHttp && url.protocol === 'http:');
    if (!isWeb) throw invalid(path, mayBeHttp ? 'must be an https or http URL' : 'must be an https URL');
    if (url.username !== '' || url.password !== '' || url.hash !== '')
      throw invalid(path, 'must not contain credentials or a fragment');
    return given;
  };
}

export const boolean: ArgumentReader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false');
  return value;
};

export function numberBetween(min: number, max: number): ArgumentReader<number> {
  return (value, path) => {
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw invalid(path, `must be a number from ${min} to ${max}`);
  };
}

export function integer(min: number, max: number): ArgumentReader<number> {
  return (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw invalid(path, `must be an integer from ${min} to ${max}`);
  };
}

export function oneOf<T extends string>(values: readonly T[]): ArgumentReader<T> {
  return (value, path) => {
    const match = values.find((each) => each === value);
    if (match === undefined) throw invalid(path, `must be one of: ${values.join(', ')}`);
    return match;
  };
}

export function listOf<T>(maxLength: number, read: ArgumentReader<T>): ArgumentReader<readonly T[]> {
  return (value, path) => {
    if (!isList(value)) throw invalid(path, 'must be a list');
    if (value.length > maxLength) throw invalid(path, `must have at most ${maxLength} entries`);
    return value.map((each, index) => read(each, `${path}[${index}]`));
  };
}

/**
 * JSON of bounded size and depth. DDP also carries dates, binary data and an app's own types, which no model accepts.
 * @param maxLength characters of the value's JSON
 */
export function json(maxLength: number): ArgumentReader<unknown> {
  return (value, path) => {
    assertJson(value, path, MAX_DEPTH);
    if (JSON.stringify(value).length > maxLength)
      throw invalid(path, `must be no larger than ${maxLength} characters of JSON`);
    return value;
  };
}

/**
 * @param problem completes a sentence that starts with the field: `must be a string`, `is required`
 * @returns `"limits.requests" must be a string.`; for the empty path, `The argument must be an object.`
 */
export function invalid(path: string, problem: string): LLMInvalidRequestError {
  const subject = path === '' ? 'The argument' : `"${path}"`;
  return new LLMInvalidRequestError(`${subject} ${problem}.`, { path });
}

function unknownField(name: string, fields: readonly string[], path: string): LLMInvalidRequestError {
  const shown = name.slice(0, MAX_NAME_SHOWN);
  const fieldPath = path === '' ? shown : `${path}.${shown}`;
  const advice = fields.length === 0 ? 'No fields are expected here.' : `Expected one of: ${fields.join(', ')}.`;
  return new LLMInvalidRequestError(`Unknown field "${fieldPath}". ${advice}`, { path: fieldPath });
}

function assertJson(value: unknown, path: string, levels: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (levels === 0) throw invalid(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
  if (isList(value)) {
    value.forEach((each, index) => assertJson(each, `${path}[${index}]`, levels - 1));
    return;
  }
  if (!isPlainObject(value)) throw invalid(path, 'must be JSON');
  for (const [name, field] of Object.entries(value)) {
    if (FORBIDDEN_NAMES.has(name)) throw invalid(path, `must not have a field named "${name}"`);
    if (field !== undefined) assertJson(field, `${path}.${name.slice(0, MAX_NAME_SHOWN)}`, levels - 1);
  }
}

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

export function isPlainObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
