/** Vendors, and what their models are called with, from variables and from `Meteor.settings.ai`. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { VENDORS } from '../../business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { AISettings } from '../../business/ai/infrastructure/factories/createAIModule';
import type { BudgetSettings } from '../../business/ai/domain/entities/BudgetAccount';
import type { ProviderSettings } from '../../business/ai/infrastructure/factories/LLMProviderFactory';
import { CONVENTIONS_VERSIONS } from '../../business/ai/infrastructure/telemetry/semanticConventions';
import { readModelOverrides } from '../../business/ai/infrastructure/vendors/readModelOverrides';
import type { ModelOverrides } from '../../business/ai/infrastructure/vendors/readModelOverrides';
import type { VendorVariables } from '../../business/ai/infrastructure/vendors/Vendor';
import { VENDOR_ROWS } from '../../business/ai/infrastructure/vendors/vendors';
import { budgetSettings, readBudgets } from '../../business/limits/budgetSettings';
import { defineSettings, field, readSetting, readSettings, setting } from './defineSettings';
import type { SettingReader, SettingSource } from './defineSettings';
import { settingSource } from './environment';
import type { Environment } from './environment';
import { readRoutingRules } from './routing';
import { invalidSetting, SettingProblems } from './SettingProblems';
import { choice, httpUrl, jsonOrFile, list, matching, number, onOff, text } from './settingReaders';

/** The variables of each vendor that the environment can set up. */
export const VENDOR_VARIABLES: Readonly<Partial<Record<VendorName, VendorVariables>>> = Object.fromEntries(
  VENDORS.flatMap((vendor) => {
    const { variables } = VENDOR_ROWS[vendor];
    return variables === undefined ? [] : [[vendor, variables] as const];
  }),
);
const CONFIGURABLE_VENDORS = Object.keys(VENDOR_VARIABLES) as readonly VendorName[];

/** `Meteor.settings.ai` has them, too. */
export const VENDOR_NAMES: readonly string[] = Object.values(VENDOR_VARIABLES).flatMap(({ sdkBaseURL: _, ...names }) =>
  Object.values(names).filter((name) => typeof name === 'string'),
);

const modelName = matching(/^[^\s\p{C}]{1,256}$/u, 'a model name of 1 to 256 characters without spaces');

export const vendorSettings = defineSettings({
  defaultProvider: setting(
    'LLM_PROVIDER',
    choice(CONFIGURABLE_VENDORS),
    '`openai` if configured, else the first configured vendor',
  ).means("The default provider, in any case. An error without the vendor's key."),
  temperature: setting('LLM_TEMPERATURE', number({ min: 0, max: 2 }), "the model's").means(
    'Temperature from 0 to 2, for the terminal and chat.',
  ),
  hostedTools: setting(
    'LLM_HOSTED_TOOLS',
    list('provider/tool, or provider/none', (entry) => /^[^/]*\/[a-z0-9_]+$/.test(entry)),
    'all',
  ).means(
    '`provider/tool`, or `provider/none`, with commas: the only [hosted tools](../guides/providers.md#hosted-tools) of each provider that is named.',
  ),
  // Ids of Google's API have slashes of their own.
  sharedObjects: setting(
    'LLM_SHARED_OBJECTS',
    list('provider/id, or provider/beginning*', (entry) => /^[^/]*\/(?!.*\*.)\S+$/.test(entry)),
    'none',
  ).means(
    '`provider/id`, or `provider/beginning*`, with commas: [objects at the vendor](../guides/providers.md#objects-at-the-vendor) that everyone may name, such as `openai/vs_handbook`.',
  ),
  models: setting('LLM_MODELS', jsonOrFile(readModels), 'none').means(
    '[Limits, capabilities and prices of models](../guides/jobs-and-budgets.md#models-and-prices-of-your-own) by vendor, as a JSON object or the path of a JSON file.',
  ),
  toolsInText: setting('LLM_TOOLS_IN_TEXT', readToolsInText, '`false`').means(
    '`true`, or vendors such as `llama,groq`: their models get [tools as text](../guides/tools.md#models-without-native-tool-calling).',
  ),
  systemPrompt: setting('SYSTEM_PROMPT', text, 'none').means('Instructions for the terminal and chat.'),
});

export const routingSettings = defineSettings({
  routing: setting('LLM_ROUTING', jsonOrFile(readRoutingRules), 'none').means(
    '[Routing rules](../guides/routing.md) by name, as a JSON object or the path of a JSON file.',
  ),
});

export const telemetrySettings = defineSettings({
  telemetry: {
    captureContent: setting('TELEMETRY_CONTENT', onOff, '`off`').means(
      '`on` records messages, arguments and results in spans, with what looks like a credential masked.',
    ),
    conventions: setting('TELEMETRY_CONVENTIONS', choice(CONVENTIONS_VERSIONS), '`1.41`').means(
      "The version of OpenTelemetry's semantic conventions for generative AI: `1.41` or `1.36`.",
    ),
  },
});

export const aiFields = defineSettings({
  routing: field('routing', readRoutingRules, 'none').means(
    '[Routing rules](../guides/routing.md) by name. They replace those of `LLM_ROUTING` with the same name.',
  ),
  models: field('models', readModels, 'none').means(
    '[Limits, capabilities and prices of models](../guides/jobs-and-budgets.md#models-and-prices-of-your-own) by vendor. They precede those of `LLM_MODELS`.',
  ),
  budgets: field('budgets', readBudgets, 'the variables').means(
    '`{ "day"?, "month"?, "users"? }`; see [budgets](../guides/jobs-and-budgets.md#budgets).',
  ),
});

/**
 * One provider for each vendor that has a key, named after the vendor. No provider at all is not an error, unless
 * LLM_PROVIDER names one: applications then start the simulator.
 * @throws LLMInvalidRequestError that lists every invalid variable
 */
export function settingsFromEnvironment(env: Environment): AISettings {
  return settingsFromMeteor(undefined, env);
}

/**
 * The same from `Meteor.settings.ai`, where the variables have the same names; the environment supplies those that are
 * missing there.
 * @param settings the untrusted value; unknown names are ignored
 * @throws LLMInvalidRequestError that lists everything invalid in either
 */
export function settingsFromMeteor(settings: unknown, env: Environment): AISettings {
  if (settings !== undefined && settings !== null && !isObject(settings))
    throw new LLMInvalidRequestError('Meteor.settings.ai must be an object.', { path: 'settings.ai' });
  const problems = new SettingProblems();
  const read = readAISettings(settingSource(env, settings ?? {}), problems);
  problems.throwIfAny();
  return read;
}

function readAISettings(valueOf: SettingSource, problems: SettingProblems): AISettings {
  const table = { ...vendorSettings, ...budgetSettings, ...routingSettings, ...telemetrySettings, fields: aiFields };
  const given = readSettings(table, valueOf, problems);
  const { temperature, systemPrompt, fields, telemetry, toolsInText = [] } = given;
  const vendors = CONFIGURABLE_VENDORS.flatMap((vendor) => readVendor(vendor, valueOf, problems));
  const ids = vendors.map(({ id }) => id);
  const shared = byProvider('LLM_SHARED_OBJECTS', given.sharedObjects, ids, problems);
  const hosted = byProvider('LLM_HOSTED_TOOLS', given.hostedTools, ids, problems);
  const providers = vendors.map((provider) =>
    omitUndefined({
      ...provider,
      toolsInText: toolsInText.includes(provider.vendor) || undefined,
      sharedObjects: shared[provider.id],
      hostedTools: hosted[provider.id]?.filter((tool) => tool !== 'none'),
    }),
  );
  const { defaultProvider = ids.includes('openai') ? 'openai' : ids[0] } = given;
  if (given.defaultProvider !== undefined && !ids.includes(given.defaultProvider)) {
    const key = VENDOR_VARIABLES[given.defaultProvider]?.key ?? '';
    problems.add('LLM_PROVIDER', `LLM_PROVIDER is "${given.defaultProvider}", but ${key} is not set.`);
  }
  const days = Object.entries(given.budgets).filter(([, amounts]) => Object.keys(amounts).length > 0);
  const budgets: BudgetSettings = { ...Object.fromEntries(days), ...fields.budgets };
  const rules = [...(given.routing ?? []), ...(fields.routing ?? [])];
  for (const { name } of rules)
    if (ids.includes(name)) problems.add('LLM_ROUTING', `The routing rule "${name}": "name" is the id of a provider.`);
  const routing = [...new Map(rules.map((rule) => [rule.name, rule])).values()];
  return omitUndefined({
    providers,
    defaultProvider,
    temperature,
    systemPrompt,
    budgets: unlessEmpty(budgets),
    routing: unlessEmpty(routing),
    models: joined(fields.models, given.models),
    telemetry: unlessEmpty(telemetry),
  });
}

function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function readVendor(vendor: VendorName, valueOf: SettingSource, problems: SettingProblems): ProviderSettings[] {
  const { variables: names, wires } = VENDOR_ROWS[vendor];
  if (names === undefined) return [];
  const { sdkBaseURL } = names;
  const read = <T>(name: string | undefined, reader: SettingReader<T>): T | undefined =>
    name === undefined ? undefined : readSetting({ name, read: reader }, valueOf, problems);
  const isSet = (name: string | undefined): boolean =>
    name !== undefined && readSetting({ name, read: () => true }, valueOf, problems) === true;
  const key = names.sdkKey !== undefined && isSet(names.sdkKey) && !isSet(names.key) ? names.sdkKey : names.key;
  const apiKey = read(key, headerText);
  const baseURL = read(names.baseURL, httpUrl);
  const defaultName = read(names.model, modelName);
  if (!isSet(key)) {
    const keyless = [names.baseURL, names.deployment].filter((name) => name !== undefined && isSet(name));
    if (keyless.length === 0) return [];
    if (names.keyIsOptional !== true) {
      for (const name of keyless) problems.add(names.key, `${name ?? ''} is set, but ${names.key} is not.`);
      return [];
    }
  }
  // Calls would go elsewhere than its owner expects.
  if (sdkBaseURL !== undefined && isSet(sdkBaseURL) && !isSet(names.baseURL))
    problems.add(
      sdkBaseURL,
      `${sdkBaseURL} is not read. Set ${names.baseURL} to the URL that ${vendor} is to be called at; if ${sdkBaseURL} is for another program, to the vendor's own.`,
    );
  const deployment = read(names.deployment, text);
  if (names.deployment !== undefined)
    for (const name of [names.baseURL, names.deployment])
      if (!isSet(name)) problems.add(name, `${key} is set, but ${name} is not.`);
  return [
    omitUndefined({
      id: vendor,
      vendor,
      apiKey,
      baseURL,
      allowPrivateHosts: baseURL === undefined ? undefined : true,
      defaultModel: defaultName ?? deployment,
      deployment,
      apiVersion: read(names.apiVersion, text),
      wire: read(names.wire, choice(wires)),
    }),
  ];
}

/** No error quotes a key. */
function headerText(given: unknown, name: string): string {
  const value = text(given, name);
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw invalidSetting(name, `${name} contains characters that are not allowed in an HTTP header.`);
}

function readToolsInText(given: unknown, name: string): readonly VendorName[] {
  const value = text(given, name).toLowerCase();
  if (value === 'true' || value === '1') return CONFIGURABLE_VENDORS;
  if (value === 'false' || value === '0') return [];
  const vendors = `true, false, or vendors of: ${CONFIGURABLE_VENDORS.join(', ')}`;
  const names = list(vendors, (entry) => CONFIGURABLE_VENDORS.some((vendor) => vendor === entry))(value, name);
  return CONFIGURABLE_VENDORS.filter((vendor) => names.includes(vendor));
}

/** @throws LLMInvalidRequestError that begins with the source */
function readModels(given: unknown, source: string): ModelOverrides {
  try {
    return readModelOverrides(given, new Date().toISOString().slice(0, 10));
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    throw invalidSetting(source, `${source}: ${error.message}`);
  }
}

/** The first precede the second. */
function joined(first: ModelOverrides | undefined, second: ModelOverrides | undefined): ModelOverrides | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Object.fromEntries(VENDORS.map((vendor) => [vendor, [...(first[vendor] ?? []), ...(second[vendor] ?? [])]]));
}

/** @param entries `provider/what` */
function byProvider(
  name: string,
  entries: readonly string[] = [],
  providerIds: readonly string[],
  problems: SettingProblems,
): Readonly<Partial<Record<string, readonly string[]>>> {
  const named: Record<string, string[]> = {};
  for (const entry of entries) {
    const at = entry.indexOf('/');
    const id = entry.slice(0, at);
    if (!providerIds.includes(id)) problems.add(name, `${name} names the provider "${id}", which is not set up.`);
    (named[id] ??= []).push(entry.slice(at + 1));
  }
  return named;
}
