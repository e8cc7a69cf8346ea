/** Fields of a Responses request that the inner language has no word for, in the words of other wires that have one. */
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

/** Defaults that are said aloud are defaults all the same, and not every host knows their names. */
function withoutDefaults(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== 0),
  );
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}
