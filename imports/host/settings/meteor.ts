/** `Meteor.settings.ai`, validated completely before anything is opened or created. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { readSetting, readSettings } from './defineSettings';
import { settingSource } from './environment';
import type { Environment } from './environment';
import { meteorSettings } from './meteorSettings';
import { nodeSettings } from './nodeSettings';
import { findPlaceholders } from './placeholders';
import { checkMeteorNames, checkVariableNames } from './settingNames';
import { SettingProblems } from './SettingProblems';
import { readHostSettings } from './settingTables';
import { settingsFromMeteor } from './vendors';

/**
 * @param given the untrusted value of `Meteor.settings.ai`; the environment supplies the variables missing there
 * @throws LLMInvalidRequestError that lists everything that is missing or invalid
 */
export function readMeteorSettings(given: unknown, env: Environment) {
  if (given !== undefined && given !== null && !isObject(given))
    throw new LLMInvalidRequestError('Meteor.settings.ai must be an object.', { path: 'settings.ai' });
  const settings = given ?? {};
  const valueOf = settingSource(env, settings);
  const problems = new SettingProblems();
  for (const path of findPlaceholders(settings))
    problems.addField(path, 'still has the value of settings.example.json. Replace or remove it.');
  checkMeteorNames(settings, problems);
  checkVariableNames(env, problems);
  const ai = problems.attempt(() => settingsFromMeteor(settings, env)) ?? { providers: [] };
  const fields = readSettings(meteorSettings, (name) => (problems.has(name) ? undefined : valueOf(name)), problems);
  const { secretKeys = readSetting(nodeSettings.secretKeys, valueOf, problems) } = fields;
  const { name } = meteorSettings.secretKeys;
  if (secretKeys === undefined && !problems.has(name) && !problems.has('AI_SECRET_KEYS'))
    problems.add(name, NO_SECRETS);
  const host = readHostSettings(valueOf, problems);
  problems.throwIfAny();
  const { admins = [], adminRoles = [], callLimits = {} } = fields;
  const { allowPrivateHosts = host.allowPrivateHosts ?? false, sealContent = host.sealContent } = fields;
  return {
    ...host,
    ...fields,
    ...omitUndefined({ sealContent }),
    ai,
    // Without them, there was a problem.
    secretKeys: secretKeys ?? '',
    admins,
    adminRoles,
    allowPrivateHosts,
    callLimits,
  };
}

const NO_SECRETS =
  'Set Meteor.settings.ai.secrets or AI_SECRET_KEYS. The vendors’ API keys and tokens are sealed with it before they are stored, and all processes of the app ' +
  "need the same value. Generate one with: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"";
