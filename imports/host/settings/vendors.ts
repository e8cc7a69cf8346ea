/** Vendor settings from environment variables, and from `Meteor.settings.ai`, which takes precedence. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { redactSecrets } from '../../business/ai/domain/errors/safeText';
import { isObject } from '../../business/ai/domain/json';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { VENDORS } from '../../business/ai/domain/types/VendorTypes';
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import type { AISettings } from '../../business/ai/infrastructure/factories/createAIModule';
import type { ProviderSettings } from '../../business/ai/infrastructure/factories/LLMProviderFactory';
import type { VendorVariables } from '../../business/ai/infrastructure/vendors/Vendor';
import { VENDOR_ROWS } from '../../business/ai/infrastructure/vendors/vendors';
import { BUDGET_VARIABLES, readBudgetSettings } from '../../business/limits/settings/budgets';
import { readHostedTools } from './hostedTools';
import { readTelemetrySettings, TELEMETRY_VARIABLES } from './telemetry';
import { readSharedObjects } from './sharedObjects';
import { MODELS_VARIABLE, readModelSettings } from './models';
import { readRoutingSettings, ROUTING_VARIABLE } from './routing';
import { valueOf } from './environment';
import { parseUrl } from '../../business/ai/domain/parseUrl';

/** The variables of each vendor that the environment can set up. */
export const VENDOR_VARIABLES: Readonly<Partial<Record<VendorName, VendorVariables>>> = Object.fromEntries(
  VENDORS.flatMap((vendor) => {
    const { variables } = VENDOR_ROWS[vendor];
    return variables === undefined ? [] : [[vendor, variables] as const];
  }),
);
const CONFIGURABLE_VENDORS = Object.keys(VENDOR_VARIABLES) as readonly VendorName[];

const OTHER_VARIABLES = [
  'LLM_PROVIDER',
  'LLM_TEMPERATURE',
  'LLM_TOOLS_IN_TEXT',
  'LLM_SHARED_OBJECTS',
  'LLM_HOSTED_TOOLS',
  'SYSTEM_PROMPT',
  ...TELEMETRY_VARIABLES,
  ROUTING_VARIABLE,
  MODELS_VARIABLE,
] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One provider for each vendor that has a key, named after the vendor. No provider at all is not an error, unless
 * LLM_PROVIDER names one: applications then start the simulator.
 * @throws LLMInvalidRequestError that lists every invalid variable
 */
export function settingsFromEnvironment(env: Environment): AISettings {
  return readSettings(env, {}, []);
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
  const problems: string[] = [];
  const merged: Record<string, string | undefined> = { ...env };
  for (const name of VENDOR_SETTINGS) {
    const value = settings?.[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value === 'string' || typeof value === 'number') merged[name] = String(value);
    else problems.push(`Meteor.settings.ai.${name} must be a string or a number`);
  }
  return readSettings(merged, settings ?? {}, problems);
}

/** Variables of the environment and of `Meteor.settings.ai` alike. */
export const VENDOR_SETTINGS: readonly string[] = [
  ...OTHER_VARIABLES,
  ...BUDGET_VARIABLES,
  ...Object.values(VENDOR_VARIABLES).flatMap(({ sdkBaseURL: _, ...names }) =>
    Object.values(names).filter((name) => typeof name === 'string'),
  ),
];

/** @param given `Meteor.settings.ai` */
function readSettings(env: Environment, given: JsonObject, problems: string[]): AISettings {
  const toolsInText = readToolsInText(env, problems);
  const read = CONFIGURABLE_VENDORS.flatMap((vendor) => readVendor(vendor, env, problems));
  const shared = readSharedObjects(
    valueOf(env, 'LLM_SHARED_OBJECTS'),
    read.map(({ id }) => id),
    problems,
  );
  const hosted = readHostedTools(
    valueOf(env, 'LLM_HOSTED_TOOLS'),
    read.map(({ id }) => id),
    problems,
  );
  const providers = read.map((provider) => ({
    ...provider,
    ...(toolsInText.includes(provider.vendor) ? { toolsInText: true } : {}),
    ...omitUndefined({ sharedObjects: shared[provider.id], hostedTools: hosted[provider.id] }),
  }));
  const defaultProvider = readDefaultProvider(providers, env, problems);
  const temperature = readTemperature(env, problems);
  const budgets = readBudgetSettings(given['budgets'], (name) => valueOf(env, name), problems);
  const routing = readRoutingSettings(
    given['routing'],
    valueOf(env, ROUTING_VARIABLE),
    providers.map(({ id }) => id),
    problems,
  );
  const models = readModelSettings(given['models'], valueOf(env, MODELS_VARIABLE), problems);
  const telemetry = readTelemetrySettings((name) => valueOf(env, name), problems);
  if (problems.length > 0)
    throw new LLMInvalidRequestError(`The configuration is invalid: ${problems.join('; ')}.`, { path: 'env' });
  const systemPrompt = valueOf(env, 'SYSTEM_PROMPT');
  return omitUndefined({
    providers,
    defaultProvider,
    temperature,
    systemPrompt,
    budgets,
    routing: routing.length === 0 ? undefined : routing,
    models,
    telemetry,
  });
}

function readVendor(vendor: VendorName, env: Environment, problems: string[]): ProviderSettings[] {
  const names = VENDOR_VARIABLES[vendor];
  if (names === undefined) return [];
  const apiKey = valueOf(env, names.key);
  const baseURL = readURL(env, names.baseURL, problems);
  const defaultName = readModel(env, names.model, problems);
  if (apiKey === undefined) {
    const keyless = [names.baseURL, names.deployment].filter((name) => valueOf(env, name) !== undefined);
    if (keyless.length === 0) return [];
    if (names.keyIsOptional !== true) {
      for (const name of keyless) problems.push(`${name ?? ''} is set, but ${names.key} is not`);
      return [];
    }
  } else if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    problems.push(`${names.key} contains characters that are not allowed in an HTTP header`);
  }
  // Calls would go elsewhere than its owner expects.
  if (valueOf(env, names.baseURL) === undefined && valueOf(env, names.sdkBaseURL) !== undefined)
    problems.push(
      `${names.sdkBaseURL ?? ''} is not read. Set ${names.baseURL} to the URL that ${vendor} is to be called at; if ${names.sdkBaseURL ?? ''} is for another program, to the vendor's own`,
    );
  const deployment = valueOf(env, names.deployment);
  if (names.deployment !== undefined && valueOf(env, names.baseURL) === undefined)
    problems.push(`${names.key} is set, but ${names.baseURL} is not`);
  if (names.deployment !== undefined && deployment === undefined)
    problems.push(`${names.key} is set, but ${names.deployment} is not`);
  const defaultModel = defaultName ?? deployment;
  const apiVersion = valueOf(env, names.apiVersion);
  const wire = readWire(vendor, env, problems);
  return [
    omitUndefined({
      id: vendor,
      vendor,
      apiKey,
      ...(baseURL === undefined ? {} : { baseURL, allowPrivateHosts: true }),
      defaultModel,
      deployment,
      apiVersion,
      wire,
    }),
  ];
}

function readWire(vendor: VendorName, env: Environment, problems: string[]): WireName | undefined {
  const { variables, wires } = VENDOR_ROWS[vendor];
  const value = valueOf(env, variables?.wire);
  if (value === undefined) return undefined;
  const wire = wires.find((each) => each === value.toLowerCase().replaceAll('-', '_'));
  if (wire === undefined)
    problems.push(`${variables?.wire ?? ''} is "${redactSecrets(value)}". Expected one of: ${wires.join(', ')}`);
  return wire;
}

function readModel(env: Environment, name: string | undefined, problems: string[]): string | undefined {
  const value = valueOf(env, name);
  if (value !== undefined && !/^[^\s\p{C}]{1,256}$/u.test(value))
    problems.push(`${name ?? ''} is not a model name: expected 1 to 256 characters without spaces`);
  return value;
}

function readURL(env: Environment, name: string, problems: string[]): string | undefined {
  const value = valueOf(env, name);
  if (value === undefined) return undefined;
  const url = parseUrl(value);
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return value;
  problems.push(`${name} is not an http or https URL`);
  return undefined;
}

function readDefaultProvider(
  providers: readonly ProviderSettings[],
  env: Environment,
  problems: string[],
): string | undefined {
  const requested = valueOf(env, 'LLM_PROVIDER');
  if (requested === undefined) return providers.find(({ id }) => id === 'openai')?.id ?? providers[0]?.id;
  const name = requested.toLowerCase().replaceAll('-', '_');
  const vendor = CONFIGURABLE_VENDORS.find((each) => each === name);
  if (vendor === undefined) {
    const expected = CONFIGURABLE_VENDORS.join(', ');
    problems.push(`LLM_PROVIDER is "${redactSecrets(requested)}". Expected one of: ${expected}`);
  } else if (!providers.some(({ id }) => id === vendor)) {
    problems.push(`LLM_PROVIDER is "${vendor}", but ${VENDOR_VARIABLES[vendor]?.key ?? ''} is not set`);
  }
  return vendor;
}

function readTemperature(env: Environment, problems: string[]): number | undefined {
  const value = valueOf(env, 'LLM_TEMPERATURE');
  if (value === undefined) return undefined;
  const temperature = Number(value);
  if (Number.isFinite(temperature) && temperature >= 0 && temperature <= 2) return temperature;
  problems.push(`LLM_TEMPERATURE is "${redactSecrets(value)}". Expected a number from 0 to 2`);
  return undefined;
}

/** The vendors whose models get their tools as text. */
function readToolsInText(env: Environment, problems: string[]): readonly VendorName[] {
  const value = valueOf(env, 'LLM_TOOLS_IN_TEXT')?.toLowerCase() ?? 'false';
  if (value === 'true' || value === '1') return CONFIGURABLE_VENDORS;
  if (value === 'false' || value === '0') return [];
  const names = value.split(',').map((name) => name.trim());
  const vendors = CONFIGURABLE_VENDORS.filter((vendor) => names.includes(vendor));
  if (vendors.length === names.length) return vendors;
  const expected = CONFIGURABLE_VENDORS.join(', ');
  problems.push(`LLM_TOOLS_IN_TEXT is "${redactSecrets(value)}". Expected true, false, or vendors of: ${expected}`);
  return [];
}
