/** Builds an instance of a JSON Schema from the values in a text: a call's arguments, or a structured response. */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, isArray, isObject } from '../json';
import type { ExtractedValues } from './extractValues';
import { buildExampleNumber, buildExampleString } from './buildExampleScalars';

export interface ExampleOptions {
  /** Fills optional properties too. */
  readonly optional: boolean;
}

export function buildExample(schema: JsonObject, values: ExtractedValues, options: ExampleOptions): unknown {
  return build(schema, { root: schema, values, options, name: '', depth: 0 });
}

interface BuildContext {
  readonly root: JsonObject;
  readonly values: ExtractedValues;
  readonly options: ExampleOptions;
  /** The name of the property that is being filled. */
  readonly name: string;
  readonly depth: number;
}

/** Below this depth, only required properties are filled, so that recursive schemas terminate. */
const FULL_DEPTH = 5;
const MAX_DEPTH = 24;

function build(given: unknown, context: BuildContext): unknown {
  if (!isObject(given)) return `simulated ${context.name || 'value'}`;
  if (context.depth > MAX_DEPTH) return null;
  const schema = resolveSchema(given, context);
  if ('const' in schema) return schema.const;
  if (isArray(schema.enum) && schema.enum.length > 0)
    return findMentioned(schema.enum, context.values.text) ?? schema.default ?? schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, context);
    case 'array':
      return buildArray(schema, context);
    case 'integer':
      return buildExampleNumber(schema, context.values, true);
    case 'number':
      return buildExampleNumber(schema, context.values, false);
    case 'boolean':
      return !isNegated(context.name, context.values.text);
    case 'null':
      return null;
    case 'string':
      return buildExampleString(schema, context.name, context.values);
  }
}

/** Resolves references, merges `allOf`, and chooses the first alternative that isn't null. */
function resolveSchema(schema: JsonObject, context: BuildContext, hops = 0): JsonObject {
  if (hops > 16) return {};
  if (typeof schema.$ref === 'string')
    return resolveSchema({ ...resolve(schema.$ref, context.root), ...without(schema, '$ref') }, context, hops + 1);
  if (isArray(schema.allOf)) {
    const parts = schema.allOf.filter(isObject).map((part) => resolveSchema(part, context, hops + 1));
    return resolveSchema(parts.reduce(merge, without(schema, 'allOf')), context, hops + 1);
  }
  const alternatives = isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (!isArray(alternatives)) return schema;
  const options = alternatives.filter(isObject).map((option) => resolveSchema(option, context, hops + 1));
  const chosen =
    options.find(
      (option) => typeOf(option) !== 'null' && (context.depth <= FULL_DEPTH || typeOf(option) !== 'object'),
    ) ??
    options.at(-1) ??
    {};
  return resolveSchema(merge(without(without(schema, 'anyOf'), 'oneOf'), chosen), context, hops + 1);
}

function merge(left: JsonObject, right: JsonObject): JsonObject {
  const properties = { ...asObject(left.properties), ...asObject(right.properties) };
  const required = [...asArray(left.required), ...asArray(right.required)];
  return {
    ...left,
    ...right,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function buildObject(schema: JsonObject, context: BuildContext): JsonObject {
  const properties = asObject(schema.properties);
  const required = new Set(asArray(schema.required));
  const names = Object.keys(properties).filter(
    (name) =>
      required.has(name) ||
      (context.depth < FULL_DEPTH &&
        (context.options.optional || isMentionedEnum(properties[name], context.values.text))),
  );
  const filled: [string, unknown][] = names.map((name) => [
    name,
    build(properties[name], { ...context, name, depth: context.depth + 1 }),
  ]);
  const undeclared = [...required].filter((name): name is string => typeof name === 'string' && !(name in properties));
  const additional = asObject(schema.additionalProperties);
  return Object.fromEntries([
    ...filled,
    ...undeclared.map((name): [string, unknown] => [
      name,
      build(additional, { ...context, name, depth: context.depth + 1 }),
    ]),
  ]);
}

function buildArray(schema: JsonObject, context: BuildContext): unknown[] {
  const prefix = asArray(schema.prefixItems).map((item) => build(item, { ...context, depth: context.depth + 1 }));
  const minimum = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const maximum = typeof schema.maxItems === 'number' ? schema.maxItems : 16;
  const length = Math.min(
    maximum,
    Math.max(
      minimum,
      prefix.length > 0 ? prefix.length : context.depth <= FULL_DEPTH ? countAvailable(schema, context) : 0,
    ),
  );
  const items = [...prefix];
  while (items.length < length) {
    const item = build(isObject(schema.items) ? schema.items : {}, { ...context, depth: context.depth + 1 });
    items.push(schema.uniqueItems === true && items.includes(item) ? makeUnique(item, items.length) : item);
  }
  return items;
}

/** The number of unused values of the items' type in the text, at least one. */
function countAvailable(schema: JsonObject, context: BuildContext): number {
  const type = isObject(schema.items) ? typeOf(resolveSchema(schema.items, context)) : 'string';
  const values =
    type === 'number' || type === 'integer'
      ? context.values.numbers
      : type === 'string'
        ? [...context.values.quoted, ...context.values.places]
        : [];
  return Math.max(1, values.filter((value) => !value.used).length);
}

function makeUnique(item: unknown, index: number): unknown {
  return typeof item === 'number' ? item + index : typeof item === 'string' ? `${item} ${index + 1}` : item;
}

const TYPES = ['object', 'array', 'integer', 'number', 'boolean', 'null', 'string'] as const;

/** Gemini writes types in upper case. */
function typeOf(schema: JsonObject): (typeof TYPES)[number] {
  const types = (isArray(schema.type) ? schema.type : [schema.type]).map((type) =>
    typeof type === 'string' ? type.toLowerCase() : type,
  );
  const type = TYPES.find((candidate) => candidate !== 'null' && types.includes(candidate));
  if (type !== undefined) return type;
  if (types.includes('null')) return 'null';
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema) return 'number';
  return 'string';
}

function findMentioned(values: readonly unknown[], text: string): unknown {
  return values.find(
    (value) =>
      (typeof value === 'string' || typeof value === 'number') &&
      `${value}` !== '' &&
      text.toLowerCase().includes(`${value}`.toLowerCase()),
  );
}

/** "without sugar", "no sugar". */
function isNegated(name: string, text: string): boolean {
  const lower = text.toLowerCase();
  return ['no', 'not', 'without'].some((word) => lower.includes(`${word} ${name.toLowerCase()}`));
}

function isMentionedEnum(schema: unknown, text: string): boolean {
  return isObject(schema) && isArray(schema.enum) && findMentioned(schema.enum, text) !== undefined;
}

function resolve(reference: string, root: JsonObject): JsonObject {
  const steps = reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  const target = steps.reduce<unknown>(
    (at, step) => (isObject(at) ? at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
  return asObject(target);
}

function without(schema: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}
