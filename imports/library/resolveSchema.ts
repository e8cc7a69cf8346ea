/** Any schema that tools accept, as a JSON Schema and a validator. */
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';
import { toJsonSchema } from '../business/ai/application/services/schema/toJsonSchema';
import type { Validated } from '../business/ai/application/services/schema/ResolvedSchema';
import { checkValue } from '../business/ai/application/services/schema/checkSchema';

export interface SchemaReader {
  readonly jsonSchema: JsonObject;
  /** The value as the schema transforms it, or what is wrong with it. */
  readonly validate: (value: unknown) => Promise<Validated<unknown>>;
}

/** @throws LLMInvalidRequestError for anything but a schema */
export function resolveSchema(schema: unknown): SchemaReader {
  const { jsonSchema, validate: validateOwn } = toJsonSchema(schema);
  return {
    jsonSchema,
    validate: async (value) => {
      const { violations } = await checkValue({ schema: jsonSchema, untrusted: false, userId: '' }, value);
      if (violations.length > 0) return { ok: false, violations };
      return validateOwn?.(value) ?? { ok: true, value };
    },
  };
}
