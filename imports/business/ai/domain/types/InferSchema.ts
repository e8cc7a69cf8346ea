/** Infers the type of a JSON Schema's values from a schema literal, references and recursion included. */

/** The values of JSON Schema's `type`. */
export type JsonTypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/** A schema whose own type states what its values are; a plain `JsonObject` does not. */
export type LiteralJsonSchema = (
  | { readonly type: JsonTypeName | readonly JsonTypeName[] }
  | { readonly enum: readonly unknown[] }
  | { readonly const: unknown }
  | { readonly anyOf: readonly unknown[] }
  | { readonly oneOf: readonly unknown[] }
  | { readonly allOf: readonly unknown[] }
  | { readonly $ref: string }
) & {
  /** A Standard Schema may have a `type` too, and has a better type than this one infers. */
  readonly '~standard'?: never;
};

/**
 * What cannot be inferred (conditions, patterns, references to other documents) is `unknown` or wider than the schema.
 * An object has the properties that are described and, unless `additionalProperties` is given, no others.
 * @typeParam Root the document to which `$ref` refers
 */
export type InferSchema<S, Root = S> = S extends false
  ? never
  : S extends { readonly $ref: infer Ref }
    ? ValueAt<Root, Ref>
    : S extends { readonly const: infer Constant }
      ? Constant
      : S extends { readonly enum: readonly (infer Value)[] }
        ? Value
        : S extends { readonly anyOf: unknown } | { readonly oneOf: unknown } | { readonly allOf: unknown }
          ? OfType<S, Root> & Alternatives<S, 'anyOf', Root> & Alternatives<S, 'oneOf', Root> & All<S, Root>
          : OfType<S, Root>;

type OfType<S, Root> = S extends { readonly type: readonly (infer Name)[] }
  ? ValueOfType<S, Name, Root>
  : S extends { readonly type: infer Name }
    ? ValueOfType<S, Name, Root>
    : unknown;

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ValueOfType<S, Name, Root> = Name extends keyof Scalars
  ? Scalars[Name]
  : Name extends 'array'
    ? ArrayValue<S, Root>
    : Name extends 'object'
      ? ObjectValue<S, Root>
      : unknown;

type Alternatives<S, Keyword extends string, Root> = S extends { readonly [K in Keyword]: readonly (infer Each)[] }
  ? Each extends unknown
    ? InferSchema<Each, Root>
    : never
  : unknown;

type All<S, Root> = S extends { readonly allOf: infer List } ? Intersection<List, Root> : unknown;

type Intersection<List, Root> = List extends readonly [infer First, ...infer Rest]
  ? InferSchema<First, Root> & Intersection<Rest, Root>
  : unknown;

type ArrayValue<S, Root> = S extends { readonly prefixItems: infer Items extends readonly unknown[] }
  ? Tuple<Items, S extends { readonly items: infer Rest } ? Elements<Rest, Root> : unknown[], MinItems<S>, Root>
  : // Draft-07.
    S extends { readonly items: infer Items extends readonly unknown[] }
    ? Tuple<
        Items,
        S extends { readonly additionalItems: infer Rest } ? Elements<Rest, Root> : unknown[],
        MinItems<S>,
        Root
      >
    : S extends { readonly items: infer Items }
      ? InferSchema<Items, Root>[]
      : unknown[];

type Elements<S, Root> = S extends false ? [] : InferSchema<S, Root>[];

type MinItems<S> = S extends { readonly minItems: infer Count } ? Count : 0;

/** The first `Min` elements are always there, the others may be missing. */
type Tuple<
  Items extends readonly unknown[],
  Rest extends unknown[],
  Min,
  Root,
  Done extends unknown[] = [],
> = Done['length'] extends Min
  ? [...Done, ...Optional<Items, Root>, ...Rest]
  : Items extends readonly [infer First, ...infer Others]
    ? Tuple<Others, Rest, Min, Root, [...Done, InferSchema<First, Root>]>
    : [...Done, ...Rest];

type Optional<Items extends readonly unknown[], Root> = { -readonly [K in keyof Items]?: InferSchema<Items[K], Root> };

type ObjectValue<S, Root> = S extends { readonly properties: infer Properties }
  ? Flat<
      { [K in keyof Properties & Required<S>]: InferSchema<Properties[K], Root> } & {
        [K in Exclude<keyof Properties, Required<S>>]?: InferSchema<Properties[K], Root>;
      } & { [K in Exclude<Required<S>, keyof Properties>]: unknown } & (S extends {
          readonly additionalProperties: infer Others;
        }
          ? Others extends false
            ? unknown
            : Record<string, unknown>
          : unknown)
    >
  : S extends { readonly additionalProperties: infer Others }
    ? Others extends false
      ? Record<string, never>
      : Record<string, InferSchema<Others, Root>>
    : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer Name extends string)[] } ? Name : never;

type Flat<T> = { -readonly [K in keyof T]: T[K] };

/** The value of the schema at a reference, which is `#` or a JSON pointer behind `#/`. */
type ValueAt<Root, Ref> = Ref extends '#'
  ? InferSchema<Root>
  : Ref extends `#/${infer Path}`
    ? InferSchema<At<Root, Path>, Root>
    : unknown;

type At<Node, Path extends string> = Path extends `${infer Step}/${infer Rest}`
  ? At<Field<Node, Unescaped<Step>>, Rest>
  : Field<Node, Unescaped<Path>>;

type Field<Node, Name extends string> = Name extends keyof Node ? Node[Name] : unknown;

type Unescaped<Step extends string> = Step extends `${infer Before}~1${infer After}`
  ? `${Before}/${Unescaped<After>}`
  : Step extends `${infer Before}~0${infer After}`
    ? `${Before}~${Unescaped<After>}`
    : Step;
