/** What people choose from when they set up a provider: vendors, and the models that are known of each. */
import type { ModelInfo, VendorInfo } from '../../domain/types/ProviderViews';
import type { VendorName } from '../../domain/types/VendorTypes';
import { capabilitiesOf, isListedModel } from './capabilities';
import { VENDOR_ROWS } from './vendors';

export function vendorCatalog(): readonly VendorInfo[] {
  return Object.values(VENDOR_ROWS).map((vendor) => ({
    vendor: vendor.name,
    label: vendor.label,
    wires: vendor.wires,
    ...(vendor.baseURL === undefined ? {} : { baseURL: vendor.baseURL }),
    requiresBaseURL: vendor.requiresBaseURL === true,
    keyIsOptional: vendor.name === 'openai_compatible' || vendor.name === 'llama',
    hasDeployments: vendor.variables?.deployment !== undefined,
    ...(vendor.defaultModel === undefined ? {} : { defaultModel: vendor.defaultModel }),
    models: knownModels(vendor.name),
  }));
}

export function knownModels(vendorName: VendorName): readonly ModelInfo[] {
  const { defaultModel, currentModels = [] } = VENDOR_ROWS[vendorName];
  const names = new Set([...(defaultModel === undefined ? [] : [defaultModel]), ...currentModels]);
  return [...names].map((id) => describeModel(vendorName, id));
}

/** Facts about a model, as far as they are known. */
export function describeModel(vendorName: VendorName, id: string): ModelInfo {
  if (!isListedModel(vendorName, id)) return { id };
  const { maxTokens, maxOutputTokens, price } = capabilitiesOf(vendorName, id);
  return { id, contextWindow: maxTokens, maxOutputTokens, ...(price === undefined ? {} : { price }) };
}
