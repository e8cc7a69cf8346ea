/**
 * Provider options of a call. `bolide` holds Bolide's own; those of a vendor are fields of its API and are sent to that
 * vendor alone. Names of the AI SDK's packages that differ from the API's are translated.
 */
import type { SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider';
import { fieldsOf, isEmpty } from '../../../business/ai/domain/util/json';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import { SCHEME_OF_WIRE, VENDORS } from '../../../business/ai/domain/types/VendorTypes';
import type { JsonObject, VendorFields } from '../../../business/ai/domain/types/VendorTypes';
import { AISDKCompatibleError } from './aiSdkErrors';
import { BOLIDE, omit } from './carriedItem';
import { toSnakeCase } from './snakeCase';

/** Options of a call that the AI SDK has no setting for. Checked like every other option. */
export interface BolideCallOptions extends Pick<
  GenerateOptions,
  | 'instructions'
  | 'metadata'
  | 'parallel_tool_calls'
  | 'previous_response_id'
  | 'reasoning'
  | 'store'
  | 'streamArguments'
  | 'timeout'
  | 'user'
  | 'vendor'
  | 'wire'
> {
  /** Whose budgets and credentials the call uses. Default: the provider's `userId`. */
  readonly userId?: string;
}

const NAMES = {
  instructions: true,
  metadata: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  reasoning: true,
  store: true,
  streamArguments: true,
  timeout: true,
  user: true,
  vendor: true,
  wire: true,
  userId: true,
} as const satisfies Record<keyof BolideCallOptions, true>;

/** Names of the AI SDK's packages that differ from ours. */
const VENDOR_OF_NAMESPACE: Readonly<Record<string, string>> = { xai: 'grok', azure: 'azure_openai', vertex: 'google' };
const VENDOR_KEYS: ReadonlySet<string> = new Set([...VENDORS, ...Object.values(SCHEME_OF_WIRE)]);

/** Fields that `@ai-sdk/google` takes at the top level, and the API in `generationConfig`. */
const GENERATION_CONFIG: ReadonlySet<string> = new Set([
  'thinkingConfig',
  'responseModalities',
  'mediaResolution',
  'imageConfig',
  'speechConfig',
  'audioTimestamp',
]);

/** Options of the AI SDK's packages about their own conversions, which the APIs don't have. */
const OF_PACKAGES: ReadonlySet<string> = new Set([
  'forceReasoning',
  'passThroughUnsupportedFiles',
  'sendReasoning',
  'strictJsonSchema',
  'structuredOutputMode',
  'structuredOutputs',
  'systemMessageMode',
  'toolStreaming',
]);

export interface ReadProviderOptions {
  readonly options: Omit<BolideCallOptions, 'userId'>;
  readonly userId?: string | undefined;
}

/** @param providerId of the model @throws InvalidArgumentError for an unknown option of Bolide */
export function readProviderOptions(
  given: SharedV4ProviderOptions | undefined,
  providerId: string,
  warnings: SharedV4Warning[],
): ReadProviderOptions {
  const { [BOLIDE]: own = {}, ...others } = given ?? {};
  const unknown = Object.keys(own).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown !== undefined)
    throw new AISDKCompatibleError(
      'AI_InvalidArgumentError',
      `Unknown option "providerOptions.bolide.${unknown}". Expected one of: ${Object.keys(NAMES).join(', ')}.`,
      { argument: `providerOptions.bolide.${unknown}` },
    );
  const { userId, ...options } = own as BolideCallOptions & JsonObject;
  const vendor: Record<string, JsonObject> = {};
  let translated: BolideCallOptions = {};
  for (const [namespace, fields] of Object.entries(others)) {
    const key = vendorKeyOf(namespace);
    if (key === undefined) {
      warnings.push({ type: 'other', message: `"providerOptions.${namespace}" names no provider and was omitted.` });
      continue;
    }
    if (key === 'google') {
      vendor.google = googleFields(fields);
      continue;
    }
    const { common, rest, verbosity } = split(fields, namespace, warnings);
    // Options for another vendor do not concern this model.
    if (concernsProvider(key, providerId)) translated = { ...translated, ...common };
    if (!isEmpty(rest)) vendor[key] = toSnakeCase(rest);
    if (verbosity !== undefined) vendor.openai_responses = { ...vendor.openai_responses, text: { verbosity } };
  }
  const merged: VendorFields = { ...vendor, ...options.vendor };
  return { options: { ...translated, ...options, ...(isEmpty(merged) ? {} : { vendor: merged }) }, userId };
}

/** @returns undefined for a namespace of no vendor */
export function vendorKeyOf(namespace: string): string | undefined {
  const key = VENDOR_OF_NAMESPACE[namespace] ?? namespace;
  return VENDOR_KEYS.has(key) ? key : undefined;
}

/** A provider with an id of its own may be of any vendor. `@ai-sdk/azure` reads the options of `openai`. */
export function concernsProvider(key: string, providerId: string): boolean {
  return key === providerId || !VENDOR_KEYS.has(providerId) || (key === 'openai' && providerId === 'azure_openai');
}

interface SplitOptions {
  /** What the AI SDK's packages have as an option of one vendor, and Bolide for all of them. */
  readonly common: BolideCallOptions;
  readonly verbosity: unknown;
  readonly rest: JsonObject;
}

function split(given: JsonObject, namespace: string, warnings: SharedV4Warning[]): SplitOptions {
  const { reasoningEffort, effort, reasoningSummary, parallelToolCalls, disableParallelToolUse, ...others } = given;
  const { previousResponseId, store, textVerbosity: verbosity, ...fields } = others;
  const level = reasoningEffort ?? effort;
  const reasoning = {
    ...(typeof level === 'string' ? { effort: level } : {}),
    ...(typeof reasoningSummary === 'string' ? { summary: reasoningSummary } : {}),
  };
  const parallel = typeof disableParallelToolUse === 'boolean' ? !disableParallelToolUse : parallelToolCalls;
  for (const name of Object.keys(fields).filter((each) => OF_PACKAGES.has(each)))
    warnings.push({ type: 'unsupported', feature: `providerOptions.${namespace}.${name}` });
  return {
    common: {
      ...(isEmpty(reasoning) ? {} : { reasoning }),
      ...(typeof parallel === 'boolean' ? { parallel_tool_calls: parallel } : {}),
      ...(typeof previousResponseId === 'string' ? { previous_response_id: previousResponseId } : {}),
      ...(typeof store === 'boolean' ? { store } : {}),
    },
    verbosity,
    rest: omit(fields, [...OF_PACKAGES]),
  };
}

/** The Gemini API writes its fields in camelCase. */
function googleFields(given: JsonObject): JsonObject {
  const config = Object.entries(given).filter(([name]) => GENERATION_CONFIG.has(name));
  if (config.length === 0) return given;
  const generationConfig = { ...fieldsOf(given.generationConfig), ...Object.fromEntries(config) };
  return { ...omit(given, [...GENERATION_CONFIG]), generationConfig };
}
