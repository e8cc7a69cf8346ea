/**
 * Converts valibot's schemas to JSON Schema. They validate by themselves and describe themselves in plain objects, but
 * not as JSON Schema. What JSON Schema cannot express exactly is left open, since the schema's own validation follows.
 * https://valibot.dev/guides/schemas/
 */
import { fieldsOf, isList, isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Maximum nesting. A schema that contains itself is left open further down. */
const MAX_LEVELS = 32;

/** @param schema a schema of valibot 1; its input is described, since that is what a model writes */
export function describeValibot(schema: unknown, levels = MAX_LEVELS): JsonObject {
  if (!isObject(schema) || levels === 0) return {};
  const described = describeType(schema, (inner) => describeValibot(inner, levels - 1));
  return { ...described, ...(isList(schema.pipe) ? describeActions(schema.pipe.slice(1), described.type) : {}) };
}

type Describe = (inner: unknown) => JsonObject;

function describeType(schema: JsonObject, describe: Describe): JsonObject {
  const { type, entries, item, items, key, value, options, literal, wrapped, rest, getter } = schema;
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return { type };
    case 'literal':
      return isWord(literal) ? { const: literal } : {};
    case 'picklist':
    case 'enum':
      return isList(options) && options.every(isWord) ? { enum: options } : {};
    case 'object':
    case 'loose_object':
    case 'strict_object':
    case 'object_with_rest':
      return describeObject(
        fieldsOf(entries),
        type === 'strict_object' ? false : type === 'object_with_rest' ? describe(rest) : undefined,
        describe,
      );
    case 'array':
      return { type: 'array', items: describe(item) };
    case 'tuple':
    case 'loose_tuple':
    case 'strict_tuple':
    case 'tuple_with_rest':
      return isList(items) ? { type: 'array', prefixItems: items.map(describe) } : { type: 'array' };
    case 'record':
      return {
        type: 'object',
        additionalProperties: describe(value),
        ...(fieldsOf(key).type === 'picklist' ? { propertyNames: describe(key) } : {}),
      };
    case 'union':
    case 'variant':
      return isList(options) ? { anyOf: options.map(describe) } : {};
    case 'intersect':
      return isList(options) ? { allOf: options.map(describe) } : {};
    case 'nullable':
    case 'nullish':
      return { anyOf: [describe(wrapped), { type: 'null' }] };
    case 'optional':
    case 'exact_optional':
    case 'undefinedable':
    case 'non_optional':
    case 'non_nullable':
    case 'non_nullish':
      return describe(wrapped);
    case 'lazy':
      return typeof getter === 'function' ? describe((getter as (input: unknown) => unknown)(undefined)) : {};
    default:
      return {};
  }
}

function describeObject(entries: JsonObject, others: JsonObject | false | undefined, describe: Describe): JsonObject {
  const names = Object.keys(entries);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, describe(entries[name])])),
    required: names.filter((name) => !MAY_BE_ABSENT.has(fieldsOf(entries[name]).type)),
    ...(others === undefined ? {} : { additionalProperties: others }),
  };
}

const MAY_BE_ABSENT: ReadonlySet<unknown> = new Set(['optional', 'exact_optional', 'undefinedable', 'nullish']);

/** Up to the first transformation: what follows describes the output. */
function describeActions(actions: readonly unknown[], type: unknown): JsonObject {
  const keywords: JsonObject = {};
  for (const action of actions) {
    if (!isObject(action) || action.kind === 'transformation' || action.kind === 'schema') break;
    Object.assign(keywords, describeAction(action, type));
  }
  return keywords;
}

function describeAction({ type, requirement, description, title }: JsonObject, of: unknown): JsonObject {
  const [least, most] = of === 'array' ? ['minItems', 'maxItems'] : ['minLength', 'maxLength'];
  const hasLength = of === 'array' || of === 'string';
  if (type === 'description' && typeof description === 'string') return { description };
  if (type === 'title' && typeof title === 'string') return { title };
  if (of === 'number' && type === 'integer') return { type: 'integer' };
  if (hasLength && type === 'non_empty') return { [least]: 1 };
  if (typeof requirement !== 'number') return {};
  if (hasLength && type === 'min_length') return { [least]: requirement };
  if (hasLength && type === 'max_length') return { [most]: requirement };
  if (hasLength && type === 'length') return { [least]: requirement, [most]: requirement };
  if (of === 'number' && type === 'min_value') return { minimum: requirement };
  if (of === 'number' && type === 'max_value') return { maximum: requirement };
  return {};
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
