/**
 * Converts JSON Schemas for Anthropic's structured outputs. The API responds with 400 to keywords it does not support,
 * so a copy without them is sent.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
import { mapFields } from '../../shared/mapFields';
import { isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface OutputSchema {
  readonly schema: JsonObject;
  /** Omitted keywords with the path of their schema, such as `.properties.age`. */
  readonly dropped: readonly { readonly path: string; readonly keyword: string }[];
}

const outputSchemas = new WeakMap<JsonObject, OutputSchema | 'unsupported'>();

/** Returns `undefined` for a schema that structured outputs cannot express: open maps, recursion, untyped values. */
export function toOutputSchema(schema: JsonObject): OutputSchema | undefined {
  let result = outputSchemas.get(schema);
  if (result === undefined) {
    result = convert(schema);
    outputSchemas.set(schema, result);
  }
  return result === 'unsupported' ? undefined : result;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'title', 'default']);
const STRING_FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Keywords that constrain nothing, so their omission is not reported. */
const IGNORED: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'additionalProperties',
  'propertyOrdering',
]);
/** One of them states which values a schema means. */
const TYPING = ['type', '$ref', 'enum', 'const', 'anyOf', 'allOf'] as const;
/** Only references to entire definitions are supported. */
const DEFINITION = /^#\/(\$defs|definitions)\/[^/]+$/;
/** Back references, lookaround and word boundaries. */
const UNSUPPORTED_PATTERN = /\\[1-9bB]|\(\?[=!<]/;

class UnsupportedSchema extends Error {}

function convert(schema: JsonObject): OutputSchema | 'unsupported' {
  if (isRecursive(schema)) return 'unsupported';
  const dropped: { path: string; keyword: string }[] = [];
  try {
    return { schema: convertNode(schema, '', dropped), dropped };
  } catch (error) {
    if (error instanceof UnsupportedSchema) return 'unsupported';
    throw error;
  }
}

function convertNode(schema: unknown, path: string, dropped: { path: string; keyword: string }[]): JsonObject {
  if (!isObject(schema)) throw new UnsupportedSchema();
  const copy: JsonObject = {};
  const unsupported: JsonObject = {};
  let isChanged = false;
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const converted = convertKeyword(keyword, value, schema, path, dropped);
    if (converted !== undefined) copy[converted.keyword] = converted.value;
    else if (!IGNORED.has(keyword)) unsupported[keyword] = value;
    isChanged ||= copy[keyword] !== value;
  }
  if (!TYPING.some((keyword) => keyword in copy)) throw new UnsupportedSchema();
  if (isObjectType(copy.type)) closeObject(schema, copy, path, dropped);
  else if (!isChanged) return schema;
  for (const keyword of Object.keys(unsupported)) dropped.push({ path, keyword });
  if (Object.keys(unsupported).length > 0) copy.description = describeRules(copy.description, unsupported);
  return copy;
}

function convertKeyword(
  keyword: string,
  value: unknown,
  schema: JsonObject,
  path: string,
  dropped: { path: string; keyword: string }[],
): { keyword: string; value: unknown } | undefined {
  const at = `${path}.${keyword}`;
  switch (keyword) {
    case 'type':
    case 'required':
      return { keyword, value };
    case '$ref':
      if (typeof value !== 'string' || !DEFINITION.test(value)) throw new UnsupportedSchema();
      return { keyword, value };
    case 'properties':
    case '$defs':
    case 'definitions':
      if (!isObject(value)) throw new UnsupportedSchema();
      return {
        keyword,
        value: mapFields(value, (inner, name) => convertNode(inner, `${at}.${name}`, dropped)),
      };
    case 'items':
      return { keyword, value: convertNode(value, at, dropped) };
    case 'allOf':
      if (Array.isArray(value) && value.some((variant) => isObject(variant) && '$ref' in variant))
        throw new UnsupportedSchema();
      return { keyword, value: convertVariants(value, at, dropped) };
    case 'anyOf':
      return { keyword, value: convertVariants(value, at, dropped) };
    case 'oneOf':
      // Every value that satisfies oneOf also satisfies anyOf.
      if ('anyOf' in schema) return undefined;
      dropped.push({ path, keyword });
      return { keyword: 'anyOf', value: convertVariants(value, at, dropped) };
    case 'enum':
      if (!Array.isArray(value) || !value.every(isScalar)) throw new UnsupportedSchema();
      return { keyword, value };
    case 'const':
      if (!isScalar(value)) throw new UnsupportedSchema();
      return { keyword, value };
    case 'format':
      return STRING_FORMATS.has(value) ? { keyword, value } : undefined;
    case 'pattern':
      return typeof value === 'string' && !UNSUPPORTED_PATTERN.test(value) ? { keyword, value } : undefined;
    case 'minItems':
      return value === 0 || value === 1 ? { keyword, value } : undefined;
    default:
      return ANNOTATIONS.has(keyword) ? { keyword, value } : undefined;
  }
}

function convertVariants(value: unknown, path: string, dropped: { path: string; keyword: string }[]): JsonObject[] {
  if (!Array.isArray(value)) throw new UnsupportedSchema();
  return value.map((variant, index) => convertNode(variant, `${path}[${index}]`, dropped));
}

/** Objects must be closed. A map without named properties would then accept only an empty object. */
function closeObject(
  schema: JsonObject,
  copy: JsonObject,
  path: string,
  dropped: { path: string; keyword: string }[],
): void {
  const open = schema.additionalProperties;
  const hasProperties = isObject(copy.properties) && Object.keys(copy.properties).length > 0;
  if (!hasProperties && open !== false) throw new UnsupportedSchema();
  if (isObject(open) || open === true) dropped.push({ path, keyword: 'additionalProperties' });
  copy.additionalProperties = false;
}

function isObjectType(type: unknown): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** Moves constraints that the grammar does not enforce into the description, where the model can read them. */
function describeRules(description: unknown, unsupported: JsonObject): string {
  const rules = Object.entries(unsupported).map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`);
  return `${typeof description === 'string' ? `${description}\n\n` : ''}{${rules.join(', ')}}`;
}

/** Whether any definition refers to itself, directly or not. */
function isRecursive(schema: JsonObject): boolean {
  const targets = new Map<string, ReadonlySet<string>>();
  for (const group of ['$defs', 'definitions']) {
    const definitions = schema[group];
    if (!isObject(definitions)) continue;
    for (const [name, definition] of Object.entries(definitions))
      targets.set(`#/${group}/${name}`, referencesIn(definition));
  }
  return hasCycle(targets);
}

/** Removes what refers to nothing that is left, until nothing changes: what remains is in a cycle or leads to one. */
function hasCycle(targets: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const referrers = new Map<string, string[]>();
  const left = new Map<string, number>();
  for (const [name, references] of targets) {
    const known = [...references].filter((reference) => targets.has(reference));
    left.set(name, known.length);
    for (const reference of known) append(referrers, reference, name);
  }
  const free = [...left].flatMap(([name, count]) => (count === 0 ? [name] : []));
  for (const name of free)
    for (const referrer of referrers.get(name) ?? []) {
      const count = (left.get(referrer) ?? 0) - 1;
      left.set(referrer, count);
      if (count === 0) free.push(referrer);
    }
  return free.length < targets.size;
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function referencesIn(schema: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const inner of schema) referencesIn(inner, found);
  if (!isObject(schema)) return found;
  if (typeof schema.$ref === 'string') found.add(schema.$ref);
  for (const inner of Object.values(schema)) referencesIn(inner, found);
  return found;
}
