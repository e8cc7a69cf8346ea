/** Infers the type of a JSON Schema's values from a schema literal. */

/** A schema whose own type has its keywords; a plain `JsonObject` does not. */
export interface LiteralJsonSchema {
  readonly type: JsonTypeName | readonly JsonTypeName[];
  /** A Standard Schema may have a `type` too, and has a better type than this one infers. */
  readonly '~standard'?: never;
}

type JsonTypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/** What cannot be inferred (references, conditions, patterns) is `unknown` or wider than the schema. */
export type InferSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer U)[] }
      ? InferSchema<U>
      : S extends { readonly type: readonly (infer T)[] }
        ? ValueOfType<S, T>
        : S extends { readonly type: infer T }
          ? ValueOfType<S, T>
          : unknown;

type ValueOfType<S, T> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? (S extends { readonly items: infer I } ? InferSchema<I> : unknown)[]
          : T extends 'object'
            ? ObjectValue<S>
            : unknown;

type ObjectValue<S> = S extends { readonly properties: infer P }
  ? Flat<
      { [K in keyof P & Required<S>]: InferSchema<P[K]> } & {
        [K in Exclude<keyof P, Required<S>>]?: InferSchema<P[K]>;
      }
    >
  : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

type Flat<T> = { [K in keyof T]: T[K] };
