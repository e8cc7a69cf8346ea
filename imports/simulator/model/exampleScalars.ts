/**
 * Strings and numbers for a schema, from the text where it offers one that fits, else sensible by name, format and
 * bounds.
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray } from '../json';
import { take } from './findings';
import type { Finding, Findings } from './findings';

export function exampleString(schema: JsonObject, name: string, findings: Findings): string {
  const given = schema.default ?? asArray(schema.examples)[0];
  if (typeof given === 'string') return given;
  const formatted = byFormat(schema.format, findings);
  if (formatted !== undefined) return formatted;
  const fits = (text: string | undefined): text is string => text !== undefined && matchesPattern(schema.pattern, text);
  const offered = byName(name, findings);
  const text =
    [offered, `simulated ${name || 'text'}`, 'simulated', 'a1', 'A1', '1', '2025-01-01', '12:00'].find(fits) ??
    offered ??
    'simulated';
  return fitLength(schema, text);
}

export function exampleNumber(schema: JsonObject, findings: Findings, integer: boolean): number {
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
  const offered = take(findings.numbers);
  const wanted =
    offered === undefined ? Math.max(low, Math.min(high, 1)) : Math.max(low, Math.min(high, Number(offered)));
  const whole = integer
    ? Math.round(wanted) < low
      ? Math.ceil(wanted)
      : Math.round(wanted) > high
        ? Math.floor(wanted)
        : Math.round(wanted)
    : wanted;
  const step = numberOr(schema.multipleOf, 0);
  return step > 0 ? nearestMultiple(whole, step, low, high) : whole;
}

function nearestMultiple(value: number, step: number, low: number, high: number): number {
  const nearest = Math.round(value / step) * step;
  if (nearest < low) return Math.ceil(low / step) * step;
  return nearest > high ? Math.floor(high / step) * step : nearest;
}

/** RFC 3339, RFC 5321, RFC 3986 and RFC 9562 forms of the formats that JSON Schema names. */
function byFormat(format: unknown, findings: Findings): string | undefined {
  switch (format) {
    case 'date':
      return take(findings.dates) ?? '2025-01-01';
    case 'date-time':
      return `${take(findings.dates) ?? '2025-01-01'}T12:00:00Z`;
    case 'time':
      return '12:00:00Z';
    case 'duration':
      return 'PT1H';
    case 'email':
      return take(findings.emails) ?? 'someone@example.com';
    case 'uri':
    case 'url':
      return take(findings.urls) ?? 'https://example.com/';
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

/** Which finding a property's name asks for, in the order of preference. */
const BY_NAME: readonly (readonly [RegExp, (findings: Findings) => readonly (readonly Finding[])[]])[] = [
  [/e-?mail/i, (findings) => [findings.emails, findings.quoted]],
  [/url|link|website/i, (findings) => [findings.urls, findings.quoted]],
  [/date|day/i, (findings) => [findings.dates, findings.quoted]],
  [/lat|lon|lng|number|amount|count|price/i, (findings) => [findings.numbers, findings.quoted]],
  [
    /city|place|location|country|town|destination|origin|address|region|where/i,
    (findings) => [findings.places, findings.quoted],
  ],
  [/./, (findings) => [findings.quoted, findings.places]],
];

function byName(name: string, findings: Findings): string | undefined {
  if (/^(query|question|text|message|prompt|input|request|q|topic|subject)$/i.test(name))
    return take(findings.quoted) ?? (findings.text === '' ? undefined : findings.text);
  const sources = BY_NAME.find(([pattern]) => pattern.test(name))?.[1](findings) ?? [];
  for (const source of sources) {
    const text = take(source);
    if (text !== undefined) return text;
  }
  return undefined;
}

function matchesPattern(pattern: unknown, text: string): boolean {
  if (typeof pattern !== 'string') return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}

function fitLength(schema: JsonObject, text: string): string {
  const least = numberOr(schema.minLength, 0);
  const most = numberOr(schema.maxLength, Infinity);
  const characters = Array.from(text);
  return characters.length > most
    ? characters.slice(0, most).join('')
    : text + '.'.repeat(Math.max(0, least - characters.length));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
