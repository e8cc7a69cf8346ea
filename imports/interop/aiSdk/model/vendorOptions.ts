/**
 * Provider options of messages, parts and tools. `providerOptions.bolide.vendor` holds fields of a wire by its
 * scheme, as everywhere in Bolide; of Anthropic's options in the AI SDK, those that exist per part are understood
 * as well.
 */
import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isEmpty, isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject, VendorPart } from '../../../business/ai/domain/types/VendorTypes';
import { BOLIDE } from './carriedItem';

/** Names in the AI SDK and in the Messages API. */
const ANTHROPIC_FIELDS = {
  cacheControl: 'cache_control',
  cache_control: 'cache_control',
  citations: 'citations',
  title: 'title',
  context: 'context',
} as const;

/**
 * `{ vendor }` for an item or a part, or `{}`.
 * @param carried what the provider returned for it, whose vendor fields are preserved
 */
export function vendorPartOf(
  options: SharedV4ProviderOptions | undefined,
  carried: JsonObject = {},
): { readonly vendor?: VendorPart } {
  const given = isObject(carried.vendor) ? carried.vendor : {};
  const own: unknown = options?.[BOLIDE]?.vendor;
  const anthropic = anthropicFields(options?.anthropic);
  const vendor: JsonObject = { ...given, ...(isObject(own) ? own : {}) };
  if (!isEmpty(anthropic)) vendor.anthropic = { ...(isObject(vendor.anthropic) ? vendor.anthropic : {}), ...anthropic };
  // The normalizer checks the fields.
  return isEmpty(vendor) ? {} : { vendor: vendor };
}

function anthropicFields(options: JsonObject | undefined): JsonObject {
  if (options === undefined) return {};
  return Object.fromEntries(
    Object.entries(ANTHROPIC_FIELDS)
      .filter(([name]) => options[name] !== undefined)
      .map(([name, field]) => [field, options[name]]),
  );
}
