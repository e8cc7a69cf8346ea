/** Request fields in Anthropic's own words, and how they meet the ones that were converted. */
import { isObject } from '../../../../domain/json';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

/** The scheme's words, then the vendor's own, which win. */
export function passthroughFields({ vendor }: NormalizedOptions, context: WireContext): JsonObject {
  const wireFields = vendor?.anthropic ?? {};
  const vendorFields = vendor?.[context.vendor] ?? {};
  return vendorFields === wireFields ? wireFields : withPassthrough(wireFields, vendorFields);
}

/**
 * `output_config` and `metadata` hold settings that have nothing to do with each other, so they are merged one
 * level down.
 */
export function withPassthrough(fields: JsonObject, passthrough: JsonObject): JsonObject {
  const body = { ...fields, ...passthrough };
  for (const key of ['output_config', 'metadata'] as const) {
    const [converted, verbatim] = [fields[key], passthrough[key]];
    if (isObject(converted) && isObject(verbatim)) body[key] = { ...converted, ...verbatim };
  }
  return body;
}

/** The fields that the host takes; the others are dropped and reported. */
export function withoutUnsupportedFields(fields: JsonObject, { quirks }: WireContext, warnings: string[]): JsonObject {
  const refused = quirks.unsupportedFields.filter((field) => field in fields);
  if (refused.length === 0) return fields;
  warnings.push(`${refused.join(', ')} left out: the host does not take them`);
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !refused.includes(field)));
}
