/** Defines a SimpleSchema that knows the type of its values, which the package itself forgets. */
import type { InferSimpleSchema } from '../business/ai/domain/types/InferSimpleSchema';
import type { SimpleSchemaLike, TypedSchema } from '../business/ai/domain/types/Schemas';

/**
 * `simpleSchema(SimpleSchema, { city: String, days: { type: Number, optional: true } })`, with the class of the
 * app's own copy of the package. Fields of `SimpleSchema.Integer` and `SimpleSchema.Any`, which the package types
 * alike, and of `SimpleSchema.oneOf` are `unknown`; `typed` gives a schema a type by hand.
 */
export function simpleSchema<
  Class extends new (definition: never) => SimpleSchemaLike,
  const Definition extends NonNullable<ConstructorParameters<Class>[0]>,
>(SimpleSchema: Class, definition: Definition): InstanceType<Class> & TypedSchema<InferSimpleSchema<Definition>> {
  // The type exists for the compiler only. A definition is what the class takes.
  return new SimpleSchema(definition) as InstanceType<Class> & TypedSchema<InferSimpleSchema<Definition>>;
}
