/** Arguments from outside, field by field: what is not known, not of its type or too large is refused with its path. */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';

export type Fields = Readonly<Record<string, unknown>>;

/** Longest of the texts that have no limit of their own, in characters. */
const MAX_TEXT = 200;
const MAX_URL = 2_048;
const MAX_LIST = 500;

/** @throws LLMInvalidRequestError for anything but an object with these fields only */
export function fieldsOf(value: unknown, path: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'must be an object');
  const unknown = Object.keys(value).find((key) => !allowed.includes(key));
  if (unknown !== undefined) throw wrong(path, `has no field '${unknown.slice(0, 60)}'`);
  return { ...value };
}

/** `undefined` when the field is absent; every reader below is for those that are there. */
export function optional<T>(
  fields: Fields,
  name: string,
  read: (value: unknown, path: string) => T,
  path = name,
): T | undefined {
  const value = fields[name];
  return value === undefined ? undefined : read(value, path);
}

export function text(value: unknown, path: string, maxLength = MAX_TEXT): string {
  if (typeof value !== 'string' || value.trim() === '') throw wrong(path, 'must be a text that says something');
  if (value.length > maxLength) throw wrong(path, `must be no longer than ${maxLength} characters`);
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) throw wrong(path, 'must be plain text');
  return value;
}

/** A secret goes into an HTTP header, so it is printable ASCII. The message never repeats it. */
export function secret(value: unknown, path: string): string {
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value))
    throw wrong(path, 'must be 1 to 8192 printable characters without spaces');
  return value;
}

export function flag(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw wrong(path, 'must be true or false');
  return value;
}

export function wholeNumber(value: unknown, path: string, from: number, to: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < from || value > to)
    throw wrong(path, `must be a whole number from ${from} to ${to}`);
  return value;
}

export function oneOf<T extends string>(value: unknown, path: string, words: readonly T[]): T {
  const word = words.find((each) => each === value);
  if (word === undefined) throw wrong(path, `must be one of ${words.join(', ')}`);
  return word;
}

export function textList(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value) || value.length > MAX_LIST)
    throw wrong(path, `must be a list of at most ${MAX_LIST} texts`);
  return value.map((each: unknown, index) => text(each, `${path}[${index}]`));
}

/** @param allowInsecure permits plain http */
export function webUrl(value: unknown, path: string, allowInsecure: boolean): string {
  const given = text(value, path, MAX_URL);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'https:' || (allowInsecure && url?.protocol === 'http:');
  if (!isWeb) throw wrong(path, allowInsecure ? 'must be an https or http URL' : 'must be an https URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw wrong(path, 'must not contain credentials or a fragment');
  return given;
}

export function wrong(path: string, what: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${path} ${what}.`, { path });
}
