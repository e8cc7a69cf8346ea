/** Arguments from outside, field by field: what is not known, not of its type or too large is refused with its path. */
import { LLMInvalidRequestError } from './errors/LLMErrors';
import { isList, isObject } from './json';
import type { JsonObject } from './types/VendorTypes';

/** Brackets inside brackets. */
const MOST_LEVELS = 64;

/** @throws LLMInvalidRequestError for anything but a plain object with these fields only */
export function readObject(value: unknown, allowed: readonly string[]): JsonObject {
  if (!isPlainObject(value)) throw invalid('', 'the argument must be an object');
  const unknown = Object.keys(value).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw invalid(
      unknown.slice(0, 60),
      `there is no field '${unknown.slice(0, 60)}'; the fields are ${allowed.join(', ')}`,
    );
  return value;
}

/** The field as it was read, or nothing at all when it is not there: for spreading. */
export function optional<N extends string, T>(
  fields: JsonObject,
  name: N,
  read: (value: unknown, path: string) => T,
): { readonly [K in N]?: T } {
  const value = fields[name];
  // A computed key loses its literal type.
  return value === undefined ? {} : ({ [name]: read(value, name) } as { readonly [K in N]: T });
}

/** A word that names something: no blanks, nothing that can't be seen. */
export function identifier(longest: number): (value: unknown, path: string) => string {
  return (value, path) => {
    if (typeof value === 'string' && value.length <= longest && /^[^\s\p{C}]+$/u.test(value)) return value;
    throw invalid(path, `${path} must be a word of 1 to ${longest} characters`);
  };
}

export function text(longest: number): (value: unknown, path: string) => string {
  return (value, path) => {
    if (typeof value !== 'string') throw invalid(path, `${path} must be a text`);
    if (value.length > longest) throw invalid(path, `${path} must be no longer than ${longest} characters`);
    return value;
  };
}

export function numberWithin(least: number, most: number): (value: unknown, path: string) => number {
  return (value, path) => {
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw invalid(path, `${path} must be a number from ${least} to ${most}`);
  };
}

export function wholeNumber(least: number, most: number): (value: unknown, path: string) => number {
  return (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
    throw invalid(path, `${path} must be a whole number from ${least} to ${most}`);
  };
}

export function oneOf<T extends string>(words: readonly T[]): (value: unknown, path: string) => T {
  return (value, path) => {
    const known = words.find((each) => each === value);
    if (known === undefined) throw invalid(path, `${path} must be one of ${words.join(', ')}`);
    return known;
  };
}

export function listOf<T>(
  most: number,
  read: (value: unknown, path: string) => T,
): (value: unknown, path: string) => readonly T[] {
  return (value, path) => {
    if (!isList(value) || value.length > most) throw invalid(path, `${path} must be a list of at most ${most}`);
    return value.map((each, index) => read(each, `${path}[${index}]`));
  };
}

/**
 * Any JSON of bounded size and depth. DDP also carries dates, binary data and types of an app's own, which no model
 * takes.
 * @param largest characters of its JSON
 */
export function json(largest: number): (value: unknown, path: string) => unknown {
  return (value, path) => {
    refuseOther(value, path, MOST_LEVELS);
    if (JSON.stringify(value).length > largest)
      throw invalid(path, `${path} is larger than ${largest} characters of JSON`);
    return value;
  };
}

export function invalid(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${message}.`, { path });
}

function refuseOther(value: unknown, path: string, levels: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (levels === 0) throw invalid(path, `${path} is nested too deep`);
  if (isList(value)) {
    value.forEach((each, index) => refuseOther(each, `${path}[${index}]`, levels - 1));
    return;
  }
  if (!isPlainObject(value)) throw invalid(path, `${path} is no JSON`);
  for (const [name, field] of Object.entries(value)) {
    if (FORBIDDEN.has(name)) throw invalid(path, `${path} has a field '${name}'`);
    if (field !== undefined) refuseOther(field, `${path}.${name.slice(0, 60)}`, levels - 1);
  }
}

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

function isPlainObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
