/** What people choose from when they set up a provider: vendors, and the models that are known of each. */
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { ModelInfo, VendorInfo } from '../../domain/types/ProviderViews';
import type { VendorName } from '../../domain/types/VendorTypes';
import { capabilitiesOf, isListedModel } from './capabilities';
import type { ModelOverrides } from './readModelOverrides';
import { VENDOR_ROWS } from './vendors';

/** @param overrides rows that precede the tables' */
export function vendorCatalog(overrides?: ModelOverrides): readonly VendorInfo[] {
  return Object.values(VENDOR_ROWS).map((vendor) => ({
    vendor: vendor.name,
    label: vendor.label,
    wires: vendor.wires,
    requiresBaseURL: vendor.requiresBaseURL === true,
    keyIsOptional: vendor.name === 'openai_compatible' || vendor.name === 'llama',
    hasDeployments: vendor.variables?.deployment !== undefined,
    ...omitUndefined({ baseURL: vendor.baseURL, defaultModel: vendor.defaultModel }),
    models: knownModels(vendor.name, overrides),
  }));
}

export function knownModels(vendorName: VendorName, overrides?: ModelOverrides): readonly ModelInfo[] {
  const { defaultModel, currentModels = [] } = VENDOR_ROWS[vendorName];
  const names = new Set([...(defaultModel === undefined ? [] : [defaultModel]), ...currentModels]);
  return [...names].map((id) => describeModel(vendorName, id, overrides));
}

/** Facts about a model, as far as they are known. */
export function describeModel(vendorName: VendorName, id: string, overrides: ModelOverrides = {}): ModelInfo {
  const rows = overrides[vendorName];
  if (!isListedModel(vendorName, id, rows)) return { id };
  const { maxTokens, maxOutputTokens, isWindowUnknown, price } = capabilitiesOf(vendorName, id, rows);
  return omitUndefined({
    id,
    ...(isWindowUnknown === true ? {} : { contextWindow: maxTokens, maxOutputTokens }),
    price,
  });
}
