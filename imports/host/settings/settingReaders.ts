/** What settings may be: the vocabulary of tables. Each has one sentence for what it is not. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { redactSecrets } from '../../business/ai/domain/errors/safeText';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';
import { pathText, UNKNOWN_FIELD } from '../schemas';
import type { ArgumentSchema } from '../schemas';
import type { SettingReader } from './defineSettings';
import { invalidSetting, SettingProblems } from './SettingProblems';

/** What a number counts, and how much one of it is. */
interface Unit {
  readonly name: string;
  readonly size: number;
}

/** Read as milliseconds. */
export const DAYS: Unit = { name: 'days', size: 86_400_000 };
export const SECONDS: Unit = { name: 'seconds', size: 1_000 };
/** Read as bytes. */
export const MEGABYTES: Unit = { name: 'megabytes', size: 1_024 ** 2 };

interface Bounds {
  readonly above?: number;
  readonly min?: number;
  readonly max?: number;
  readonly unit?: Unit;
}

/** A number within bounds, or one of the words that stand for others. */
export function number<W extends number | string = never>(
  bounds: Bounds,
  words?: Readonly<Record<string, W>>,
): SettingReader<number | NoInfer<W>> {
  return numberOf('a number', Number.isFinite, bounds, words);
}

export function integer<W extends number | string = never>(
  bounds: Bounds,
  words?: Readonly<Record<string, W>>,
): SettingReader<number | NoInfer<W>> {
  return numberOf('a whole number', Number.isSafeInteger, bounds, words);
}

function numberOf<W extends number | string>(
  kind: string,
  isOfKind: (value: number) => boolean,
  { above = -Infinity, min = -Infinity, max = Infinity, unit }: Bounds,
  words: Readonly<Record<string, W>> = {},
): SettingReader<number | NoInfer<W>> {
  const least = unit === undefined ? ` of at least ${min}` : `, at least ${min}`;
  const most = max === Infinity ? '' : ` and at most ${max}`;
  const range = above > -Infinity ? ` above ${above}${most}` : max === Infinity ? least : ` from ${min} to ${max}`;
  const counted = unit === undefined ? '' : ` of ${unit.name}`;
  const expected = [`${kind}${counted}${range}`, ...Object.keys(words)].join(', or ');
  return reader(expected, (text) => {
    const word = text.toLowerCase();
    if (Object.hasOwn(words, word)) return words[word];
    const value = Number(text);
    if (!isOfKind(value) || value <= above || value < min || value > max) return undefined;
    return unit === undefined ? value : Math.floor(value * unit.size);
  });
}

/** One of these words, in any case, in which `-` stands for `_`. */
export function choice<const W extends readonly string[]>(words: W): SettingReader<W[number]> {
  const expected = words.length > 2 ? `one of: ${words.join(', ')}` : words.join(' or ');
  return reader(expected, (text) => words.find((word) => word === text.toLowerCase().replaceAll('-', '_')));
}

export const onOff: SettingReader<boolean> = reader('on or off', (text) => SWITCH[text.toLowerCase()]);
const SWITCH: Readonly<Record<string, boolean>> = { on: true, off: false };

export const trueFalse: SettingReader<boolean> = reader('true or false', (text) => FLAG[text.toLowerCase()]);
const FLAG: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

export const httpUrl: SettingReader<string> = reader('an http or https URL', (text) =>
  ['http:', 'https:'].includes(parseUrl(text)?.protocol ?? '') ? text : undefined,
);

/** @param expected completes a sentence: `must be …` */
export function matching(pattern: RegExp, expected: string): SettingReader<string> {
  return reader(expected, (text) => (pattern.test(text) ? text : undefined));
}

/**
 * Entries with commas.
 * @param expected what they are, for a sentence that quotes a wrong one
 */
export function list(
  expected = '',
  isEntry: (entry: string) => boolean = () => true,
): SettingReader<readonly string[]> {
  return (given, name) => {
    const entries = entriesOf(text(given, name));
    const wrong = entries.find((entry) => !isEntry(entry));
    if (wrong === undefined) return entries;
    throw invalidSetting(name, `${name} has "${wrong.slice(0, 100)}". Expected ${expected}.`);
  };
}

export function entriesOf(value: string): readonly string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * JSON, or in `Meteor.settings.ai` what it stands for. No error quotes it, since it may contain credentials.
 * @param expected completes a sentence: `must be …`
 */
export function json<T>(expected: string, read: SettingReader<T>): SettingReader<T> {
  return (given, name) => {
    try {
      given = typeof given === 'string' ? JSON.parse(given) : given;
    } catch {
      throw invalidSetting(name, `${name} must be ${expected}.`);
    }
    return read(given, name);
  };
}

/** A JSON object, or the path of a file that has it; in `Meteor.settings.ai` what it stands for. */
export function jsonOrFile<T>(read: SettingReader<T>): SettingReader<T> {
  return (given, name) => {
    if (typeof given !== 'string') return read(given, name);
    const isJson = given.startsWith('{');
    let value: unknown;
    try {
      value = JSON.parse(isJson ? given : readFileSync(given, 'utf8'));
    } catch (error) {
      const form = isJson ? 'is not valid JSON' : 'must be a JSON object or the path of a JSON file';
      throw invalidSetting(name, `${name} ${form}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return read(value, name);
  };
}

/** What a schema describes, of which every part that is wrong is named. */
export function shaped<S extends ArgumentSchema>(schema: S): SettingReader<v.InferOutput<S>> {
  return (given, name) => {
    const { output, issues = [] } = v.safeParse(schema, given);
    const problems = new SettingProblems();
    for (const { message, expected, path = [] } of issues) {
      const place = pathText([name, ...path.map(({ key }) => key)]);
      problems.add(place, expected === UNKNOWN_FIELD ? `${place} is unknown. ${message}` : `${place} ${message}.`);
    }
    problems.throwIfAny();
    return output;
  };
}

/** Any text. */
export function text(given: unknown, name: string): string {
  if (typeof given === 'string' || typeof given === 'number') return String(given).trim();
  // Variables are texts.
  throw invalidSetting(name, `Meteor.settings.ai.${name} must be a string or a number.`);
}

function reader<T>(expected: string, parse: (text: string) => T | undefined): SettingReader<T> {
  return (given, name) => {
    const value = text(given, name);
    const read = parse(value);
    if (read !== undefined) return read;
    throw invalidSetting(name, `${name} must be ${expected}, but is "${redactSecrets(value).slice(0, 100)}".`);
  };
}
