/** Converts the options of one call for embeddings of the AI SDK. */
import type { EmbeddingModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { EmbedOptions } from '../../../business/ai/domain/types/EmbeddingTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { AISDKCompatibleError } from './aiSdkErrors';
import { BOLIDE } from './carriedItem';
import { concernsProvider, vendorKeyOf } from './readProviderOptions';
import { warnAboutHeaders } from './warnAboutHeaders';

/** Options of a call for embeddings that the AI SDK has no setting for. */
export interface BolideEmbeddingOptions extends Pick<EmbedOptions, 'taskType' | 'timeout' | 'title' | 'user'> {
  /** Whose budgets and credentials the call uses. Default: the provider's `userId`. */
  readonly userId?: string;
}

const NAMES = {
  taskType: true,
  timeout: true,
  title: true,
  user: true,
  userId: true,
} as const satisfies Record<keyof BolideEmbeddingOptions, true>;

/** The same options in the AI SDK's packages of vendors. */
const OF_VENDORS = {
  dimensions: 'dimensions',
  outputDimensionality: 'dimensions',
  taskType: 'taskType',
  title: 'title',
  user: 'user',
} as const satisfies Record<string, keyof EmbedOptions>;

export interface EmbeddingRequest {
  readonly options: Omit<EmbedOptions, 'model'>;
  /** The user named in `providerOptions`. */
  readonly userId?: string | undefined;
  /** What is known to be lost before the request is sent. */
  readonly warnings: readonly SharedV4Warning[];
}

/** @param providerId of the model @throws InvalidArgumentError for an unknown option of Bolide */
export function readEmbeddingOptions(
  { values, dimensions, abortSignal, providerOptions, headers }: EmbeddingModelV4CallOptions,
  providerId: string,
): EmbeddingRequest {
  const warnings: SharedV4Warning[] = [];
  warnAboutHeaders(headers, warnings);
  const { [BOLIDE]: own = {}, ...others } = providerOptions ?? {};
  const unknown = Object.keys(own).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown !== undefined)
    throw new AISDKCompatibleError(
      'AI_InvalidArgumentError',
      `Embeddings have no option "providerOptions.bolide.${unknown}". Expected one of: ${Object.keys(NAMES).join(', ')}.`,
      { argument: `providerOptions.bolide.${unknown}` },
    );
  const ofVendor: Record<string, unknown> = {};
  for (const [namespace, fields] of Object.entries(others))
    readVendor(namespace, fields, providerId, ofVendor, warnings);
  // Checked like the options of every other call.
  const { userId, ...options } = own as BolideEmbeddingOptions;
  return {
    options: { ...ofVendor, ...options, input: values, ...omitUndefined({ dimensions, signal: abortSignal }) },
    userId,
    warnings,
  };
}

/** Options for another vendor do not concern the model. @param options receives what does */
function readVendor(
  namespace: string,
  fields: JsonObject,
  providerId: string,
  options: Record<string, unknown>,
  warnings: SharedV4Warning[],
): void {
  const key = vendorKeyOf(namespace);
  if (key === undefined) {
    warnings.push({ type: 'other', message: `"providerOptions.${namespace}" names no provider and was omitted.` });
    return;
  }
  if (!concernsProvider(key, providerId)) return;
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(OF_VENDORS, name)) options[OF_VENDORS[name as keyof typeof OF_VENDORS]] = value;
    else warnings.push({ type: 'unsupported', feature: `providerOptions.${namespace}.${name}` });
  }
}
