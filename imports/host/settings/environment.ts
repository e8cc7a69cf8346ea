/** The environment, and what settings are read from. */
import { METEOR } from './defineSettings';
import type { SettingSource } from './defineSettings';

/** Environment variables by name. An empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process, which are read here and in the logger only. */
export function processEnvironment(): Environment {
  return process.env;
}

export function valueOf(env: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}

/**
 * Returns what reads a setting.
 * @param settings `Meteor.settings.ai`, which takes precedence
 */
export function settingSource(env: Environment, settings: Readonly<Record<string, unknown>> = {}): SettingSource {
  return (name) => {
    if (name.startsWith(METEOR)) return settings[name.slice(METEOR.length)];
    const given = settings[name];
    return given === undefined || given === null || given === '' ? valueOf(env, name) : given;
  };
}
