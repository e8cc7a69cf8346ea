/** Translates fields of a Responses request that have no common option into the fields of other wires. */
import type { JsonObject, VendorFields } from '../../../business/ai/domain/types/VendorTypes';

export function toWireOptions({ presence_penalty, frequency_penalty, top_logprobs }: JsonObject): VendorFields {
  const openai = withoutDefaults({
    presence_penalty,
    frequency_penalty,
    top_logprobs,
    logprobs: isPositive(top_logprobs) ? true : undefined,
  });
  const penalties = withoutDefaults({ presencePenalty: presence_penalty, frequencyPenalty: frequency_penalty });
  return {
    ...(Object.keys(openai).length === 0 ? {} : { openai }),
    ...(Object.keys(penalties).length === 0 ? {} : { google: { generationConfig: penalties } }),
  };
}

/** Explicit defaults are dropped, since not every provider knows the fields. */
function withoutDefaults(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== 0),
  );
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}
