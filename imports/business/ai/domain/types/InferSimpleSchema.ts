/** Infers the type of a SimpleSchema's values from its definition, https://github.com/longshotlabs/simpl-schema. */
import type { TypedSchema } from './Schemas';

/** Names with dots define the fields of objects (`address.city`) and the entries of lists (`tags.$`). */
export type InferSimpleSchema<Definition> = Flat<
  {
    -readonly [K in keyof Definition as K extends OwnName<Definition, 'required'> ? K : never]: FieldValue<
      Definition,
      K
    >;
  } & {
    -readonly [K in keyof Definition as K extends OwnName<Definition, 'optional'> ? K : never]?: FieldValue<
      Definition,
      K
    >;
  }
>;

type OwnName<Definition, Presence> = {
  [K in keyof Definition]: K extends `${string}.${string}`
    ? never
    : PresenceOf<Definition[K]> extends Presence
      ? K
      : never;
}[keyof Definition];

type PresenceOf<Field> = Field extends { readonly optional: true } | { readonly required: false }
  ? 'optional'
  : 'required';

type FieldValue<Definition, K extends keyof Definition> = Definition[K] extends {
  readonly allowedValues: readonly (infer Value)[];
}
  ? TypeOf<Definition[K]> extends ArrayConstructor
    ? ValueOfType<ArrayConstructor, Definition, K>
    : Value
  : ValueOfType<TypeOf<Definition[K]>, Definition, K>;

/** `{ type: String }` and its shorthand, `String`. */
type TypeOf<Field> = Field extends { readonly type: infer Type } ? Type : Field;

type ValueOfType<Type, Definition, K> =
  Type extends TypedSchema<infer Value>
    ? Value
    : Type extends StringConstructor | RegExp
      ? string
      : Type extends NumberConstructor
        ? number
        : Type extends BooleanConstructor
          ? boolean
          : Type extends DateConstructor
            ? Date
            : Type extends readonly [infer Entry]
              ? ValueOfType<Entry, Definition, K>[]
              : Type extends ArrayConstructor
                ? Entries<Definition, K>
                : Type extends ObjectConstructor
                  ? ObjectValue<Under<Definition, K>>
                  : unknown;

type Entries<Definition, K> = K extends string
  ? `${K}.$` extends keyof Definition
    ? FieldValue<Definition, `${K}.$`>[]
    : unknown[]
  : never;

/** An object without described fields may have any, as with `blackbox`. */
type ObjectValue<Definition> = keyof Definition extends never ? Record<string, unknown> : InferSimpleSchema<Definition>;

type Under<Definition, K> = K extends string
  ? { [Name in keyof Definition as Name extends `${K}.${infer Rest}` ? Rest : never]: Definition[Name] }
  : never;

type Flat<T> = { [K in keyof T]: T[K] };
