/**
 * Settings as tables. From a table follow the reader of its variables, the names that misspelt ones are compared with,
 * and its rows in docs/reference/configuration.md.
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { SettingProblems } from './SettingProblems';

/** What the names of fields begin with. */
export const METEOR = 'Meteor.settings.ai.';

/** @throws LLMInvalidRequestError for an invalid value, in a sentence that begins with the name */
export type SettingReader<T> = (given: unknown, name: string) => T;

export interface Setting<T = unknown> {
  readonly name: string;
  readonly source: 'both' | 'environment' | 'meteor';
  /** Markdown, as `meaning` is. */
  readonly default: string;
  readonly meaning: string;
  readonly read: SettingReader<T>;
}

/** Settings by the fields that they become, which may be grouped. */
export interface SettingsTable {
  readonly [field: string]: Setting | SettingsTable;
}

/** What is read with a table: the fields that are set, and all groups. */
export type SettingsOf<T> = {
  readonly [F in keyof T as T[F] extends Setting ? F : never]?: T[F] extends Setting<infer V> ? V : never;
} & { readonly [F in keyof T as T[F] extends Setting ? never : F]: SettingsOf<T[F]> };

/** Returns what a setting is set to, such as a text. */
export type SettingSource = (name: string) => unknown;

interface Described<T> {
  /** @param meaning in Markdown */
  means(meaning: string): Setting<T>;
}

/**
 * A variable, which `Meteor.settings.ai` has under the same name.
 * @param byDefault in Markdown
 */
export function setting<T>(name: string, read: SettingReader<T>, byDefault: string): Described<T> {
  return { means: (meaning) => ({ name, source: 'both', default: byDefault, meaning, read }) };
}

/** A variable of the environment alone. */
export function variable<T>(name: string, read: SettingReader<T>, byDefault: string): Described<T> {
  return { means: (meaning) => ({ name, source: 'environment', default: byDefault, meaning, read }) };
}

/** A field of `Meteor.settings.ai` alone. */
export function field<T>(name: string, read: SettingReader<T>, byDefault: string): Described<T> {
  return { means: (meaning) => ({ name: METEOR + name, source: 'meteor', default: byDefault, meaning, read }) };
}

export function defineSettings<T extends SettingsTable>(table: T): T {
  return table;
}

/**
 * @param problems receives what is invalid, whose fields are absent then
 * @throws LLMInvalidRequestError that names every invalid setting, without `problems`
 */
export function readSettings<T extends SettingsTable>(
  table: T,
  valueOf: SettingSource,
  problems?: SettingProblems,
): SettingsOf<T> {
  const found = problems ?? new SettingProblems();
  const fields = Object.entries(table).map(
    ([field, entry]) =>
      [
        field,
        isSetting(entry) ? readSetting(entry, valueOf, found) : readSettings<SettingsTable>(entry, valueOf, found),
      ] as const,
  );
  if (problems === undefined) found.throwIfAny();
  // Boundary: the table says what its readers return.
  return omitUndefined(Object.fromEntries(fields)) as SettingsOf<T>;
}

/** @returns undefined if it is not set, or invalid, which is added to the problems */
export function readSetting<T>(
  { name, read }: Pick<Setting<T>, 'name' | 'read'>,
  valueOf: SettingSource,
  problems: SettingProblems,
): T | undefined {
  const given = valueOf(name);
  const isSet = given !== undefined && given !== null && !(typeof given === 'string' && given.trim() === '');
  return isSet ? problems.attempt(() => read(given, name)) : undefined;
}

/** The settings of a table, in order. */
export function settingsIn(table: SettingsTable): readonly Setting[] {
  return Object.values(table).flatMap((entry) => (isSetting(entry) ? [entry] : settingsIn(entry)));
}

/** A group may have a field `name`, but no text. */
function isSetting(entry: Setting | SettingsTable): entry is Setting {
  return typeof entry.name === 'string';
}
