/**
 * Converts schemas of zod 3 to JSON Schema; those of zod 4 convert themselves. Describes the input, since that is what
 * a model writes. What JSON Schema cannot express exactly is left open, since the schema's own validation follows.
 * https://v3.zod.dev
 */
import { fieldsOf, isList, isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Maximum nesting. A schema that contains itself is left open further down. */
const MAX_LEVELS = 32;

export function isZod3(schema: object): boolean {
  return '_def' in schema && isObject(schema._def) && typeof schema._def.typeName === 'string';
}

export function describeZod3(schema: unknown, levels = MAX_LEVELS): JsonObject {
  const definition = fieldsOf(fieldsOf(schema)._def);
  if (levels === 0) return {};
  const described = describeType(definition, (inner) => describeZod3(inner, levels - 1));
  const { description } = definition;
  return typeof description === 'string' ? { ...described, description } : described;
}

type Describe = (inner: unknown) => JsonObject;

function describeType(definition: JsonObject, describe: Describe): JsonObject {
  const { typeName, innerType, values, value, items, options, rest } = definition;
  switch (typeName) {
    case 'ZodString':
      return { type: 'string', ...describeChecks(definition.checks, STRING_CHECKS) };
    case 'ZodNumber':
      return { type: 'number', ...describeChecks(definition.checks, NUMBER_CHECKS) };
    case 'ZodBoolean':
      return { type: 'boolean' };
    case 'ZodNull':
      return { type: 'null' };
    case 'ZodDate':
      // JSON has no dates: only a schema that coerces accepts one.
      return { type: 'string' };
    case 'ZodLiteral':
      return { const: value };
    case 'ZodEnum':
      return { enum: values };
    case 'ZodNativeEnum':
      return { enum: enumValues(fieldsOf(values)) };
    case 'ZodObject':
      return describeObject(definition, describe);
    case 'ZodArray':
      return { type: 'array', items: describe(definition.type), ...lengthsOf(definition) };
    case 'ZodSet':
      return { type: 'array', items: describe(definition.valueType) };
    case 'ZodTuple':
      return {
        type: 'array',
        prefixItems: isList(items) ? items.map(describe) : [],
        minItems: isList(items) ? items.length : 0,
        items: isObject(rest) ? describe(rest) : false,
      };
    case 'ZodRecord':
      return { type: 'object', additionalProperties: describe(definition.valueType) };
    case 'ZodUnion':
    case 'ZodDiscriminatedUnion':
      return { anyOf: isList(options) ? options.map(describe) : [] };
    case 'ZodIntersection':
      return { allOf: [describe(definition.left), describe(definition.right)] };
    case 'ZodNullable':
      return { anyOf: [describe(innerType), { type: 'null' }] };
    case 'ZodOptional':
    case 'ZodDefault':
    case 'ZodCatch':
    case 'ZodReadonly':
      return describe(innerType);
    case 'ZodBranded':
      return describe(definition.type);
    case 'ZodPipeline':
      return describe(definition.in);
    case 'ZodEffects':
      // A preprocessor accepts anything.
      return fieldsOf(definition.effect).type === 'preprocess' ? {} : describe(definition.schema);
    case 'ZodLazy':
      return typeof definition.getter === 'function' ? describe((definition.getter as () => unknown)()) : {};
    default:
      return {};
  }
}

function describeObject({ shape, unknownKeys, catchall }: JsonObject, describe: Describe): JsonObject {
  // A function in zod 3, so that schemas may refer to each other.
  const fields = fieldsOf(typeof shape === 'function' ? (shape as () => unknown)() : shape);
  const names = Object.keys(fields);
  const others = fieldsOf(fieldsOf(catchall)._def).typeName;
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, describe(fields[name])])),
    required: names.filter((name) => !mayBeAbsent(fields[name])),
    ...(others !== undefined && others !== 'ZodNever'
      ? { additionalProperties: describe(catchall) }
      : unknownKeys === 'strict'
        ? { additionalProperties: false }
        : {}),
  };
}

function mayBeAbsent(schema: unknown): boolean {
  const { isOptional } = fieldsOf(schema);
  return typeof isOptional === 'function' && isOptional.call(schema) === true;
}

/** An enum of numbers also maps its numbers to its names. */
function enumValues(values: JsonObject): readonly unknown[] {
  return Object.keys(values)
    .filter((name) => typeof values[String(values[name])] !== 'number')
    .map((name) => values[name]);
}

type Check = (check: JsonObject) => JsonObject;

/** Other formats accept what JSON Schema's do not. */
const STRING_CHECKS: Readonly<Record<string, Check>> = {
  min: ({ value }) => ({ minLength: value }),
  max: ({ value }) => ({ maxLength: value }),
  length: ({ value }) => ({ minLength: value, maxLength: value }),
  email: () => ({ format: 'email' }),
  uuid: () => ({ format: 'uuid' }),
};

const NUMBER_CHECKS: Readonly<Record<string, Check>> = {
  int: () => ({ type: 'integer' }),
  min: ({ value, inclusive }) => (inclusive === false ? { exclusiveMinimum: value } : { minimum: value }),
  max: ({ value, inclusive }) => (inclusive === false ? { exclusiveMaximum: value } : { maximum: value }),
  multipleOf: ({ value }) => ({ multipleOf: value }),
};

function describeChecks(checks: unknown, known: Readonly<Record<string, Check>>): JsonObject {
  const keywords: JsonObject = {};
  for (const check of isList(checks) ? checks : []) {
    const { kind } = fieldsOf(check);
    if (typeof kind === 'string' && Object.hasOwn(known, kind)) Object.assign(keywords, known[kind]?.(fieldsOf(check)));
  }
  return keywords;
}

function lengthsOf({ minLength, maxLength, exactLength }: JsonObject): JsonObject {
  const exact = fieldsOf(exactLength).value;
  const least = exact ?? fieldsOf(minLength).value;
  const most = exact ?? fieldsOf(maxLength).value;
  return { ...(least === undefined ? {} : { minItems: least }), ...(most === undefined ? {} : { maxItems: most }) };
}
