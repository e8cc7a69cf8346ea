/** Gives a schema the type of its values, for schemas whose own type does not state it. */
import type { SchemaInput, TypedSchema } from '../business/ai/domain/types/Schemas';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';

/**
 * `typed<{ city: string }>(new SimpleSchema({ city: String }))`.
 * @returns the schema itself. That the type agrees with it is up to the caller
 */
export function typed<Value>(schema: SchemaInput | JsonObject): SchemaInput & TypedSchema<Value> {
  // The type exists for the compiler only.
  return schema as SchemaInput & TypedSchema<Value>;
}
