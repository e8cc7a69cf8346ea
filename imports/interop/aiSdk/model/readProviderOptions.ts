/**
 * Provider options of a call. `bolide` holds Bolide's own; those of a vendor are fields of its API and are sent to that
 * vendor alone.
 */
import type { SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import { SCHEME_OF_WIRE, VENDORS } from '../../../business/ai/domain/types/VendorTypes';
import type { JsonObject, VendorFields } from '../../../business/ai/domain/types/VendorTypes';
import { AISDKCompatibleError } from './aiSdkErrors';
import { BOLIDE } from './carriedItem';
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
  timeout: true,
  user: true,
  vendor: true,
  wire: true,
  userId: true,
} as const satisfies Record<keyof BolideCallOptions, true>;

/** Names of the AI SDK's packages that differ from ours. */
const VENDOR_OF_NAMESPACE: Readonly<Record<string, string>> = { xai: 'grok', azure: 'azure_openai', vertex: 'google' };
const VENDOR_KEYS: ReadonlySet<string> = new Set([...VENDORS, ...Object.values(SCHEME_OF_WIRE)]);

export interface ReadProviderOptions {
  readonly options: Omit<BolideCallOptions, 'userId'>;
  readonly userId?: string;
}

/** @throws InvalidArgumentError for an unknown option of Bolide */
export function readProviderOptions(
  given: SharedV4ProviderOptions | undefined,
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
  for (const [namespace, fields] of Object.entries(others)) {
    const key = VENDOR_OF_NAMESPACE[namespace] ?? namespace;
    // The Gemini API writes its fields in camelCase.
    if (VENDOR_KEYS.has(key)) vendor[key] = key === 'google' ? fields : toSnakeCase(fields);
    else warnings.push({ type: 'other', message: `"providerOptions.${namespace}" names no provider and was omitted.` });
  }
  const merged: VendorFields = { ...vendor, ...options.vendor };
  return {
    options: { ...options, ...(Object.keys(merged).length === 0 ? {} : { vendor: merged }) },
    ...(userId === undefined ? {} : { userId }),
  };
}
