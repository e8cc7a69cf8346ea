/**
 * What `Meteor.settings.ai` says beside the vendors: sealing keys, admins, and whether private hosts may be
 * reached.
 */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/json';
import type { CallLimits } from '../../business/ai/infrastructure/factories/createRunOperations';
import { readAllowPrivateHosts } from './host';
import { readJobSettings } from './jobs';
import type { JobSettings } from './jobs';
import { valueOf } from './vendors';
import type { Environment } from './vendors';

export interface MeteorHostSettings {
  readonly secretKeys: string;
  /** User ids and verified e-mail addresses. */
  readonly admins: readonly string[];
  readonly allowPrivateHosts: boolean;
  /** What one user may do in a minute, over all processes. */
  readonly callLimits: Partial<CallLimits>;
  readonly jobs: JobSettings;
}

/** @throws LLMInvalidRequestError that says what is missing or wrong, and why it is needed */
export function readMeteorHostSettings(settings: unknown, env: Environment): MeteorHostSettings {
  const {
    secrets = valueOf(env, 'AI_SECRET_KEYS'),
    admins = [],
    allowPrivateHosts = readAllowPrivateHosts(env),
    callsPerMinute,
  } = isObject(settings) ? settings : {};
  if (typeof secrets !== 'string' || secrets === '')
    throw new LLMInvalidRequestError(NO_SECRETS, { path: 'settings.ai.secrets' });
  if (!Array.isArray(admins) || !admins.every((admin) => typeof admin === 'string' && admin !== '')) {
    throw new LLMInvalidRequestError('Meteor.settings.ai.admins must be a list of user ids and e-mail addresses.', {
      path: 'settings.ai.admins',
    });
  }
  if (typeof allowPrivateHosts !== 'boolean')
    throw new LLMInvalidRequestError('Meteor.settings.ai.allowPrivateHosts must be true or false.', {
      path: 'settings.ai.allowPrivateHosts',
    });
  const jobs = readJobSettings((name) => settingOf(settings, name) ?? valueOf(env, name));
  return { secretKeys: secrets, admins, allowPrivateHosts, callLimits: readCallLimits(callsPerMinute), jobs };
}

function readCallLimits(given: unknown): Partial<CallLimits> {
  if (given === undefined || given === null) return {};
  const kinds: readonly string[] = ['model', 'command'] satisfies (keyof CallLimits)[];
  const isRight =
    isObject(given) &&
    Object.entries(given).every(
      ([kind, most]) => kinds.includes(kind) && typeof most === 'number' && Number.isSafeInteger(most) && most > 0,
    );
  if (!isRight)
    throw new LLMInvalidRequestError(
      'Meteor.settings.ai.callsPerMinute must be { model?, command? }, whole numbers from 1.',
      { path: 'settings.ai.callsPerMinute' },
    );
  return given;
}

/** A setting under the name of a variable. */
function settingOf(settings: unknown, name: string): string | undefined {
  const value = isObject(settings) ? settings[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const NO_SECRETS =
  'Neither Meteor.settings.ai.secrets nor AI_SECRET_KEYS is set. Keys and tokens of vendors are sealed with them before they reach the database, and all processes ' +
  "of the app need the same. Make one by: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"";
