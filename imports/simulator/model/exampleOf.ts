/** An instance of a JSON Schema, filled with what a text offers: the arguments of a call, or a structured answer. */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, isArray, isObject } from '../json';
import type { Findings } from './findings';
import { exampleNumber, exampleString } from './exampleScalars';

export interface ExampleOptions {
  /** Properties that are not required are filled too. */
  readonly optional: boolean;
}

export function exampleOf(schema: JsonObject, findings: Findings, options: ExampleOptions): unknown {
  return build(schema, { root: schema, findings, options, name: '', depth: 0 });
}

interface Place {
  readonly root: JsonObject;
  readonly findings: Findings;
  readonly options: ExampleOptions;
  /** Of the property that is filled. */
  readonly name: string;
  readonly depth: number;
}

/** Deeper than this only what is required is filled, so that a schema that contains itself comes to an end. */
const FULL_DEPTH = 5;
const MAX_DEPTH = 24;

function build(given: unknown, place: Place): unknown {
  if (!isObject(given)) return `simulated ${place.name || 'value'}`;
  if (place.depth > MAX_DEPTH) return null;
  const schema = settle(given, place);
  if ('const' in schema) return schema.const;
  if (isArray(schema.enum) && schema.enum.length > 0)
    return mentioned(schema.enum, place.findings.text) ?? schema.default ?? schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, place);
    case 'array':
      return buildArray(schema, place);
    case 'integer':
      return exampleNumber(schema, place.findings, true);
    case 'number':
      return exampleNumber(schema, place.findings, false);
    case 'boolean':
      return !isNegated(place.name, place.findings.text);
    case 'null':
      return null;
    case 'string':
      return exampleString(schema, place.name, place.findings);
  }
}

/** The schema with references followed, `allOf` merged and the first alternative that isn't null chosen. */
function settle(schema: JsonObject, place: Place, hops = 0): JsonObject {
  if (hops > 16) return {};
  if (typeof schema.$ref === 'string')
    return settle({ ...resolve(schema.$ref, place.root), ...without(schema, '$ref') }, place, hops + 1);
  if (isArray(schema.allOf)) {
    const parts = schema.allOf.filter(isObject).map((part) => settle(part, place, hops + 1));
    return settle(parts.reduce(merge, without(schema, 'allOf')), place, hops + 1);
  }
  const alternatives = isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (!isArray(alternatives)) return schema;
  const options = alternatives.filter(isObject).map((option) => settle(option, place, hops + 1));
  const chosen =
    options.find((option) => typeOf(option) !== 'null' && (place.depth <= FULL_DEPTH || typeOf(option) !== 'object')) ??
    options.at(-1) ??
    {};
  return settle(merge(without(without(schema, 'anyOf'), 'oneOf'), chosen), place, hops + 1);
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

function buildObject(schema: JsonObject, place: Place): JsonObject {
  const properties = asObject(schema.properties);
  const required = new Set(asArray(schema.required));
  const names = Object.keys(properties).filter(
    (name) =>
      required.has(name) ||
      (place.depth < FULL_DEPTH && (place.options.optional || isMentionedEnum(properties[name], place.findings.text))),
  );
  const filled: [string, unknown][] = names.map((name) => [
    name,
    build(properties[name], { ...place, name, depth: place.depth + 1 }),
  ]);
  const undeclared = [...required].filter((name): name is string => typeof name === 'string' && !(name in properties));
  const values = asObject(schema.additionalProperties);
  return Object.fromEntries([
    ...filled,
    ...undeclared.map((name): [string, unknown] => [name, build(values, { ...place, name, depth: place.depth + 1 })]),
  ]);
}

function buildArray(schema: JsonObject, place: Place): unknown[] {
  const prefix = asArray(schema.prefixItems).map((item) => build(item, { ...place, depth: place.depth + 1 }));
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : 16;
  const wanted = Math.min(
    most,
    Math.max(least, prefix.length > 0 ? prefix.length : place.depth <= FULL_DEPTH ? offered(schema, place) : 0),
  );
  const items = [...prefix];
  while (items.length < wanted) {
    const item = build(isObject(schema.items) ? schema.items : {}, { ...place, depth: place.depth + 1 });
    items.push(schema.uniqueItems === true && items.includes(item) ? differing(item, items.length) : item);
  }
  return items;
}

/** As many items as the text offers, at least one. */
function offered(schema: JsonObject, place: Place): number {
  const type = isObject(schema.items) ? typeOf(settle(schema.items, place)) : 'string';
  const findings =
    type === 'number' || type === 'integer'
      ? place.findings.numbers
      : type === 'string'
        ? [...place.findings.quoted, ...place.findings.places]
        : [];
  return Math.max(1, findings.filter((finding) => !finding.used).length);
}

function differing(item: unknown, index: number): unknown {
  return typeof item === 'number' ? item + index : typeof item === 'string' ? `${item} ${index + 1}` : item;
}

const TYPES = ['object', 'array', 'integer', 'number', 'boolean', 'null', 'string'] as const;

/** Types in capitals are Gemini's. */
function typeOf(schema: JsonObject): (typeof TYPES)[number] {
  const named = (isArray(schema.type) ? schema.type : [schema.type]).map((type) =>
    typeof type === 'string' ? type.toLowerCase() : type,
  );
  const type = TYPES.find((candidate) => candidate !== 'null' && named.includes(candidate));
  if (type !== undefined) return type;
  if (named.includes('null')) return 'null';
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema) return 'number';
  return 'string';
}

function mentioned(values: readonly unknown[], text: string): unknown {
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
  return isObject(schema) && isArray(schema.enum) && mentioned(schema.enum, text) !== undefined;
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
