/** The kinds of schemas that callers may pass, and the types of their values. */
import type { InferSchema, JsonTypeName } from './InferSchema';
import type { JsonObject } from './VendorTypes';

/** A schema of values of type `Output`, if its own type states that. */
export type AnySchema<Output = unknown> = StandardSchema<Output> | SimpleSchemaLike | JsonObject;

/** Standard Schema v1, https://standardschema.dev/schema, which zod, valibot, arktype and others implement. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** The members of a SimpleSchema that are used. Instances of another copy of the package are accepted. */
export interface SimpleSchemaLike {
  clean(value: Record<string, unknown>, options: object): unknown;
  newContext(): { validate(value: unknown): boolean; validationErrors(): readonly SimpleSchemaError[] };
  messageForError(error: never): string;
  /** The names at the first level. */
  objectKeys(): readonly string[];
  schema(key: string): unknown;
  /** The schema below an `Object` key. */
  getObjectSchema(key: string): SimpleSchemaLike;
}
export interface SimpleSchemaError {
  readonly name: string;
  readonly type: string;
}

declare const VALUE: unique symbol;

/** Gives a schema whose own type states nothing, such as a SimpleSchema, the type of its values. */
export interface TypedSchema<Value> {
  /** Exists for the compiler only. */
  readonly [VALUE]: Value;
}

/** A JSON Schema: keywords that determine a value's type have their own types, and all others may be anything. */
export interface JsonSchema {
  readonly type?: JsonTypeName | readonly JsonTypeName[];
  readonly properties?: { readonly [name: string]: JsonSchema | boolean };
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | boolean | readonly (JsonSchema | boolean)[];
  readonly prefixItems?: readonly (JsonSchema | boolean)[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly (JsonSchema | boolean)[];
  readonly oneOf?: readonly (JsonSchema | boolean)[];
  readonly allOf?: readonly (JsonSchema | boolean)[];
  readonly $ref?: string;
  readonly $defs?: { readonly [name: string]: JsonSchema | boolean };
  readonly definitions?: { readonly [name: string]: JsonSchema | boolean };
  readonly [keyword: string]: unknown;
  /** A Standard Schema may have a `type` too, and has a better type than this one. */
  readonly '~standard'?: never;
}

export type SchemaInput = StandardSchema | SimpleSchemaLike | JsonSchema;

/** The type of a schema's valid values. What a schema's own type leaves open is `unknown`. */
export type ValueOf<Schema> =
  Schema extends TypedSchema<infer Value>
    ? Value
    : Schema extends StandardSchema<infer Output>
      ? Output
      : Schema extends SimpleSchemaLike
        ? Record<string, unknown>
        : InferSchema<Schema>;

/** The type of what has arrived of a schema's value, before it is validated. */
export type PartialOf<Schema> = PartialValue<
  Schema extends TypedSchema<infer Value>
    ? Value
    : Schema extends { readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined } }
      ? Input
      : ValueOf<Schema>
>;

/** Properties and elements may be missing, and a text may be the beginning of one. */
export type PartialValue<Value> = Value extends string
  ? string
  : Value extends readonly (infer Element)[]
    ? readonly PartialValue<Element>[]
    : Value extends object
      ? { readonly [Key in keyof Value]?: PartialValue<Value[Key]> }
      : Value;
