/** The settings in `Meteor.settings.ai` besides vendors: sealing keys, admins, private hosts, call limits, jobs. */
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
  /** Calls per user and minute, for all processes together. */
  readonly callLimits: Partial<CallLimits>;
  readonly jobs: JobSettings;
}

/** @throws LLMInvalidRequestError that names the missing or invalid setting */
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
  const isValid =
    isObject(given) &&
    Object.entries(given).every(
      ([kind, most]) => kinds.includes(kind) && typeof most === 'number' && Number.isSafeInteger(most) && most > 0,
    );
  if (!isValid)
    throw new LLMInvalidRequestError(
      'Meteor.settings.ai.callsPerMinute must be an object { model?, command? } of positive integers.',
      { path: 'settings.ai.callsPerMinute' },
    );
  return given;
}

/** A setting with the name of an environment variable. */
function settingOf(settings: unknown, name: string): string | undefined {
  const value = isObject(settings) ? settings[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const NO_SECRETS =
  'Set Meteor.settings.ai.secrets or AI_SECRET_KEYS. The vendors’ API keys and tokens are sealed with it before they are stored, and all processes of the app ' +
  "need the same value. Generate one with: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"";
