/** Request fields in Anthropic's own format, and how they are merged with the converted ones. */
import { isEmpty, isObject } from '../../../../domain/util/json';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

const NO_FIELDS: JsonObject = {};

/** The fields for this wire, overridden by those for this vendor. */
export function passthroughFields({ vendor }: NormalizedOptions, context: WireContext): JsonObject {
  const wireFields = vendor?.anthropic ?? NO_FIELDS;
  const vendorFields = vendor?.[context.vendor] ?? NO_FIELDS;
  return vendorFields === wireFields ? wireFields : withPassthrough(wireFields, vendorFields);
}

/** `output_config` and `metadata` are groups of unrelated settings, so they are merged one level deep. */
export function withPassthrough(fields: JsonObject, passthrough: JsonObject): JsonObject {
  if (isEmpty(passthrough)) return fields;
  const body = { ...fields, ...passthrough };
  for (const key of ['output_config', 'metadata'] as const) {
    const [converted, verbatim] = [fields[key], passthrough[key]];
    if (isObject(converted) && isObject(verbatim)) body[key] = { ...converted, ...verbatim };
  }
  return body;
}

/** Removes fields that the vendor does not support, with a warning. */
export function withoutUnsupportedFields(fields: JsonObject, { quirks }: WireContext, warnings: string[]): JsonObject {
  const refused = quirks.unsupportedFields.filter((field) => field in fields);
  if (refused.length === 0) return fields;
  warnings.push(`Omitted fields that the vendor does not support: ${refused.join(', ')}.`);
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !refused.includes(field)));
}
