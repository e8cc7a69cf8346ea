/**
 * Converts Meteor's SimpleSchema to JSON Schema and a validator. A schema is read through its own methods, so the
 * package is loaded only by apps that use it. Its own conversion writes lists as tuples, patterns with their slashes,
 * and omits counts.
 */
import { isSimpleSchema } from '../../../domain/util/isSimpleSchema';
import { isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { SimpleSchemaLike } from '../../../domain/types/Schemas';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { ResolvedSchema, Validated } from './ResolvedSchema';
import { pathStep } from './SchemaViolations';

/**
 * `validate` returns a cleaned value: date strings become Dates and defaults are filled in; nothing is trimmed or
 * removed.
 */
export function readSimpleSchema(schema: SimpleSchemaLike): ResolvedSchema {
  return {
    jsonSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...describeObject(schema) },
    validate: (value) => Promise.resolve(validate(schema, value)),
  };
}

function validate(schema: SimpleSchemaLike, value: unknown): Validated<unknown> {
  if (!isObject(value)) {
    return { ok: false, violations: [{ path: '$', message: 'must be an object' }] };
  }
  const cleaned = schema.clean(value, { mutate: false, filter: false, trimStrings: false, removeEmptyStrings: false });
  const context = schema.newContext();
  if (context.validate(cleaned)) return { ok: true, value: cleaned };
  return {
    ok: false,
    violations: context.validationErrors().map((error) => ({
      path: error.name.split('.').reduce((path, key) => path + pathStep(/^\d+$/.test(key) ? Number(key) : key), '$'),
      message: schema.messageForError(error as never),
    })),
  };
}

/** A key's definition after the package has expanded shorthands. */
interface KeyDefinition {
  readonly optional?: unknown;
  /** More than one if the key is `SimpleSchema.oneOf(…)`. */
  readonly type: { readonly definitions: readonly TypeDefinition[] };
}
interface TypeDefinition extends JsonObject {
  /** A constructor, a SimpleSchema, or one of the names below. */
  readonly type: unknown;
}

const INTEGER = 'SimpleSchema.Integer';
const ANY = '___Any___';

/** Limits that are functions depend on the value, so `validate` alone checks them, like custom validators. */
function describeObject(schema: SimpleSchemaLike, additionalProperties = false): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const key of schema.objectKeys()) {
    const definition = schema.schema(key) as KeyDefinition | undefined;
    if (definition === undefined) continue;
    if (definition.optional !== true) required.push(key);
    properties[key] = describeKey(schema, key, definition);
  }
  return { type: 'object', properties, required, additionalProperties };
}

function describeKey(schema: SimpleSchemaLike, key: string, { type }: KeyDefinition): JsonObject {
  const described = type.definitions.map((definition) => ({
    ...describeType(schema, key, definition),
    ...omitUndefined({ default: definition.defaultValue }),
  }));
  return described.length === 1 && described[0] !== undefined ? described[0] : { anyOf: described };
}

function describeType(schema: SimpleSchemaLike, key: string, definition: TypeDefinition): JsonObject {
  const { type, min, max, exclusiveMin, exclusiveMax, minCount, maxCount, allowedValues, blackbox } = definition;
  const choices = allowedValues instanceof Set ? [...allowedValues] : allowedValues;
  const choice = Array.isArray(choices) ? { enum: [...(choices as readonly unknown[])] } : {};
  switch (type) {
    case String:
      return {
        type: 'string',
        ...choice,
        ...limit('maxLength', max),
        ...limit('minLength', min),
        ...patternOf(definition.regEx),
      };
    case Number:
    case INTEGER:
      return {
        type: type === Number ? 'number' : 'integer',
        ...choice,
        ...limit(exclusiveMax === true ? 'exclusiveMaximum' : 'maximum', max),
        ...limit(exclusiveMin === true ? 'exclusiveMinimum' : 'minimum', min),
      };
    case Boolean:
      return { type: 'boolean' };
    case Date:
      return { type: 'string', format: 'date-time' };
    case Array: {
      const items = schema.schema(`${key}.$`) as KeyDefinition | undefined;
      return {
        type: 'array',
        items: items === undefined ? {} : describeKey(schema, `${key}.$`, items),
        ...limit('minItems', minCount),
        ...limit('maxItems', maxCount),
      };
    }
    case ANY:
      return {};
    default:
      // A schema, `Object`, or a class whose instances are described as plain objects.
      return describeObject(isSimpleSchema(type) ? type : schema.getObjectSchema(key), blackbox === true);
  }
}

/** Functions and infinite limits are not described. */
function limit(keyword: string, value: unknown): JsonObject {
  return typeof value === 'number' && Number.isFinite(value) ? { [keyword]: value } : {};
}

/** JSON Schema has no flags, so a pattern whose flags change what it matches is only described. */
function patternOf(regEx: unknown): JsonObject {
  if (!(regEx instanceof RegExp)) return {};
  return /[ims]/.test(regEx.flags) ? { description: `must match ${String(regEx)}` } : { pattern: regEx.source };
}
