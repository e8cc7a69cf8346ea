/**
 * Builds strings and numbers for a schema: from the text if it has a value that fits, or else from the property's
 * name, format and bounds.
 */
import { createContext, Script } from 'node:vm';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray } from '../json';
import { takeNext } from './extractValues';
import type { ExtractedValue, ExtractedValues } from './extractValues';

export function buildExampleString(schema: JsonObject, name: string, values: ExtractedValues): string {
  const given = schema.default ?? asArray(schema.examples)[0];
  if (typeof given === 'string') return given;
  const formatted = byFormat(schema.format, values);
  if (formatted !== undefined) return formatted;
  const fits = (text: string | undefined): text is string => text !== undefined && matchesPattern(schema.pattern, text);
  const offered = byName(name, values);
  const text =
    [offered, `simulated ${name || 'text'}`, 'simulated', 'a1', 'A1', '1', '2025-01-01', '12:00'].find(fits) ??
    offered ??
    'simulated';
  return fitLength(schema, text);
}

export function buildExampleNumber(schema: JsonObject, values: ExtractedValues, integer: boolean): number {
  const given = schema.default ?? asArray(schema.examples)[0];
  if (typeof given === 'number') return given;
  const low =
    typeof schema.exclusiveMinimum === 'number'
      ? schema.exclusiveMinimum + (integer ? 1 : 1e-3)
      : numberOr(schema.minimum, -Infinity);
  const high =
    typeof schema.exclusiveMaximum === 'number'
      ? schema.exclusiveMaximum - (integer ? 1 : 1e-3)
      : numberOr(schema.maximum, Infinity);
  const extracted = takeNext(values.numbers);
  const bounded =
    extracted === undefined ? Math.max(low, Math.min(high, 1)) : Math.max(low, Math.min(high, Number(extracted)));
  const rounded = integer
    ? Math.round(bounded) < low
      ? Math.ceil(bounded)
      : Math.round(bounded) > high
        ? Math.floor(bounded)
        : Math.round(bounded)
    : bounded;
  const step = numberOr(schema.multipleOf, 0);
  return step > 0 ? nearestMultiple(rounded, step, low, high) : rounded;
}

function nearestMultiple(value: number, step: number, low: number, high: number): number {
  const nearest = Math.round(value / step) * step;
  if (nearest < low) return Math.ceil(low / step) * step;
  return nearest > high ? Math.floor(high / step) * step : nearest;
}

/** Values for the formats of JSON Schema, as in RFC 3339, RFC 5321, RFC 3986 and RFC 9562. */
function byFormat(format: unknown, values: ExtractedValues): string | undefined {
  switch (format) {
    case 'date':
      return takeNext(values.dates) ?? '2025-01-01';
    case 'date-time':
      return `${takeNext(values.dates) ?? '2025-01-01'}T12:00:00Z`;
    case 'time':
      return '12:00:00Z';
    case 'duration':
      return 'PT1H';
    case 'email':
      return takeNext(values.emails) ?? 'someone@example.com';
    case 'uri':
    case 'url':
      return takeNext(values.urls) ?? 'https://example.com/';
    case 'hostname':
      return 'example.com';
    case 'ipv4':
      return '192.0.2.1';
    case 'ipv6':
      return '2001:db8::1';
    case 'uuid':
      return '00000000-0000-4000-8000-000000000000';
    default:
      return undefined;
  }
}

/** The kinds of values for a property's name, in the order of preference. */
const BY_NAME: readonly (readonly [RegExp, (values: ExtractedValues) => readonly (readonly ExtractedValue[])[]])[] = [
  [/e-?mail/i, (values) => [values.emails, values.quoted]],
  [/url|link|website/i, (values) => [values.urls, values.quoted]],
  [/date|day/i, (values) => [values.dates, values.quoted]],
  [/lat|lon|lng|number|amount|count|price/i, (values) => [values.numbers, values.quoted]],
  [
    /city|place|location|country|town|destination|origin|address|region|where/i,
    (values) => [values.places, values.quoted],
  ],
  [/./, (values) => [values.quoted, values.places]],
];

function byName(name: string, values: ExtractedValues): string | undefined {
  if (/^(query|question|text|message|prompt|input|request|q|topic|subject)$/i.test(name))
    return takeNext(values.quoted) ?? (values.text === '' ? undefined : values.text);
  const sources = BY_NAME.find(([pattern]) => pattern.test(name))?.[1](values) ?? [];
  for (const source of sources) {
    const text = takeNext(source);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A caller's pattern may take for ever, and `npm start` runs the simulator in the server's process. */
const PATTERN_LIMIT_MS = 500;
const sandbox = { pattern: '', text: '' };
const test = new Script(`new RegExp(pattern, 'u').test(text)`);

/** @returns true also for a pattern that is invalid, or that cannot be checked in time */
function matchesPattern(pattern: unknown, text: string): boolean {
  if (typeof pattern !== 'string') return true;
  try {
    return test.runInContext(createContext(Object.assign(sandbox, { pattern, text })), {
      timeout: PATTERN_LIMIT_MS,
    }) as boolean;
  } catch {
    return true;
  }
}

function fitLength(schema: JsonObject, text: string): string {
  const minimum = numberOr(schema.minLength, 0);
  const maximum = numberOr(schema.maxLength, Infinity);
  const characters = Array.from(text);
  return characters.length > maximum
    ? characters.slice(0, maximum).join('')
    : text + '.'.repeat(Math.max(0, minimum - characters.length));
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
