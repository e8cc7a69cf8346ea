/** What the environment, or a host's settings before it, says about vendors: read once and checked as a whole. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { redactSecrets } from '../../business/ai/domain/errors/safeText';
import { isObject } from '../../business/ai/domain/json';
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { AISettings } from '../../business/ai/infrastructure/factories/createAIModule';
import type { ProviderSettings } from '../../business/ai/infrastructure/factories/LLMProviderFactory';
import { BUDGET_VARIABLES, budgetSettings } from './budgets';

interface VendorVariables {
  readonly key: string;
  readonly baseURL: string;
  readonly model?: string;
  readonly deployment?: string;
  readonly apiVersion?: string;
  /** A host of this kind may do without a key. */
  readonly keyIsOptional?: true;
}

export const VENDOR_VARIABLES = {
  openai: { key: 'OPENAI_API_KEY', model: 'OPENAI_MODEL', baseURL: 'OPENAI_API_BASE' },
  azure_openai: {
    key: 'AZURE_OPENAI_KEY',
    baseURL: 'AZURE_OPENAI_BASE_URL',
    deployment: 'AZURE_OPENAI_DEPLOYMENT',
    apiVersion: 'AZURE_OPENAI_API_VERSION',
  },
  anthropic: { key: 'ANTHROPIC_API_KEY', model: 'ANTHROPIC_MODEL', baseURL: 'ANTHROPIC_BASE_URL' },
  google: { key: 'GOOGLE_API_KEY', model: 'GOOGLE_MODEL', baseURL: 'GOOGLE_BASE_URL' },
  grok: { key: 'XAI_API_KEY', model: 'XAI_MODEL', baseURL: 'XAI_BASE_URL' },
  groq: { key: 'GROQ_API_KEY', model: 'GROQ_MODEL', baseURL: 'GROQ_BASE_URL' },
  llama: { key: 'LLAMA_API_KEY', model: 'LLAMA_MODEL', baseURL: 'LLAMA_BASE_URL', keyIsOptional: true },
} as const satisfies Partial<Record<VendorName, VendorVariables>>;
type ConfiguredVendor = keyof typeof VENDOR_VARIABLES;

const OTHER_VARIABLES = ['LLM_PROVIDER', 'LLM_TEMPERATURE', 'SYSTEM_PROMPT'] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Providers for the vendors that have a key, under the vendors' names. None at all is no error: hosts then start
 * the simulator.
 * @throws LLMInvalidRequestError that names every variable that is wrong
 */
export function settingsFromEnvironment(env: Environment): AISettings {
  return read(env, undefined, []);
}

/**
 * The same from `Meteor.settings.ai`, where the variables have the same names, and from the environment for those
 * that are not there.
 * @param settings whatever stands there; names that are no variables of ours belong to others
 * @throws LLMInvalidRequestError that names everything that is wrong in either
 */
export function settingsFromMeteor(settings: unknown, env: Environment): AISettings {
  if (settings !== undefined && settings !== null && !isObject(settings))
    throw new LLMInvalidRequestError('Meteor.settings.ai must be an object.', { path: 'settings.ai' });
  const problems: string[] = [];
  const merged: Record<string, string | undefined> = { ...env };
  for (const name of VARIABLES) {
    const value = settings?.[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value === 'string' || typeof value === 'number') merged[name] = String(value);
    else problems.push(`Meteor.settings.ai.${name} is no text`);
  }
  return read(merged, settings?.['budgets'], problems);
}

/** Every variable that is read here. */
const VARIABLES: readonly string[] = [
  ...OTHER_VARIABLES,
  ...BUDGET_VARIABLES,
  ...Object.values(VENDOR_VARIABLES).flatMap((names) =>
    Object.values(names).filter((name) => typeof name === 'string'),
  ),
];

function read(env: Environment, givenBudgets: unknown, problems: string[]): AISettings {
  const vendors = Object.keys(VENDOR_VARIABLES) as ConfiguredVendor[];
  const providers = vendors.flatMap((vendor) => readVendor(vendor, VENDOR_VARIABLES[vendor], env, problems));
  const defaultProvider = readDefaultProvider(vendors, providers, env, problems);
  const temperature = readTemperature(env, problems);
  const budgets = budgetSettings(givenBudgets, (name) => valueOf(env, name), problems);
  if (problems.length > 0)
    throw new LLMInvalidRequestError(`The configuration is not right: ${problems.join('; ')}.`, { path: 'env' });
  const systemPrompt = valueOf(env, 'SYSTEM_PROMPT');
  return {
    providers,
    ...(defaultProvider === undefined ? {} : { defaultProvider }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(budgets === undefined ? {} : { budgets }),
  };
}

function readVendor(
  vendor: ConfiguredVendor,
  names: VendorVariables,
  env: Environment,
  problems: string[],
): ProviderSettings[] {
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
    problems.push(`${names.key} holds characters that no HTTP header takes`);
  }
  const deployment = valueOf(env, names.deployment);
  if (names.deployment !== undefined && valueOf(env, names.baseURL) === undefined)
    problems.push(`${names.key} is set, but ${names.baseURL} is not`);
  if (names.deployment !== undefined && deployment === undefined)
    problems.push(`${names.key} is set, but ${names.deployment} is not`);
  const defaultModel = defaultName ?? deployment;
  const apiVersion = valueOf(env, names.apiVersion);
  return [
    {
      id: vendor,
      vendor,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(baseURL === undefined ? {} : { baseURL, allowPrivateHosts: true }),
      ...(defaultModel === undefined ? {} : { defaultModel }),
      ...(deployment === undefined ? {} : { deployment }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
    },
  ];
}

function readModel(env: Environment, name: string | undefined, problems: string[]): string | undefined {
  const value = valueOf(env, name);
  if (value !== undefined && !/^[^\s\p{C}]{1,256}$/u.test(value))
    problems.push(`${name ?? ''} is no name of a model: 1 to 256 characters, no blanks`);
  return value;
}

function readURL(env: Environment, name: string, problems: string[]): string | undefined {
  const value = valueOf(env, name);
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return value;
  problems.push(`${name} is not an http or https URL`);
  return undefined;
}

function readDefaultProvider(
  vendors: readonly string[],
  providers: readonly ProviderSettings[],
  env: Environment,
  problems: string[],
): string | undefined {
  const wanted = valueOf(env, 'LLM_PROVIDER');
  if (wanted === undefined) return providers.find(({ id }) => id === 'openai')?.id ?? providers[0]?.id;
  if (!vendors.includes(wanted))
    problems.push(`LLM_PROVIDER is '${redactSecrets(wanted)}', which is none of ${vendors.join(', ')}`);
  else if (providers.length > 0 && !providers.some(({ id }) => id === wanted)) {
    problems.push(`LLM_PROVIDER is '${wanted}', but ${VENDOR_VARIABLES[wanted as ConfiguredVendor].key} is not set`);
  }
  return wanted;
}

function readTemperature(env: Environment, problems: string[]): number | undefined {
  const value = valueOf(env, 'LLM_TEMPERATURE');
  if (value === undefined) return undefined;
  const temperature = Number(value);
  if (Number.isFinite(temperature) && temperature >= 0 && temperature <= 2) return temperature;
  problems.push(`LLM_TEMPERATURE is '${redactSecrets(value)}', which is no number from 0 to 2`);
  return undefined;
}

/** An empty variable is one that is not set. */
export function valueOf(env: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}
