import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { WireContext } from '../Wire';

/** Returns the temperature and `top_p`, without the values that reasoning models of OpenAI refuse. */
export function samplingFields(
  { temperature, top_p, model }: NormalizedOptions,
  { quirks, vendor }: WireContext,
  warnings: string[],
): JsonObject {
  const fields: JsonObject = omitUndefined({ temperature, top_p });
  if (quirks.fixedSampling !== true) return fields;
  const isAccepted = ([field, value]: [string, unknown]): boolean => {
    if (value !== 1) warnings.push(`"${field}" was omitted: ${vendor} has only 1 for "${model}".`);
    return value === 1;
  };
  return Object.fromEntries(Object.entries(fields).filter(isAccepted));
}
