/**
 * Converts JSON Schemas for OpenAI's strict mode: every object closed, every property required, a subset of keywords.
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
import { isObject } from '../../../domain/util/json';
import type { ResponseFormat } from '../../../domain/types/LLMTypes';
import type { JsonObject, Loss, VendorQuirks } from '../../../domain/types/VendorTypes';
import { mapFields } from './mapFields';

export interface StrictSchema {
  /** The original object if nothing had to change. */
  readonly schema: JsonObject;
  /** Constraints that the vendor will not enforce. The response is validated against the full schema anyway. */
  readonly losses: readonly Loss[];
}

type StrictQuirks = Pick<VendorQuirks, 'supportsStrictSchemas' | 'strictKeywords' | 'acceptsStrictOptionals'>;

interface Target {
  readonly losses: Loss[];
  readonly quirks: StrictQuirks;
}

type JsonSchemaFormat = Extract<ResponseFormat, { readonly type: 'json_schema' }>;

/** Converts the format's schema for strict mode, or removes `strict` if strict mode is not possible. */
export function strictFormat(format: JsonSchemaFormat, quirks: StrictQuirks, losses: Loss[]): JsonSchemaFormat {
  if (format.strict !== true) return format;
  const isSupported = quirks.supportsStrictSchemas !== false;
  const strict = isSupported ? toStrictSchema(format.schema, quirks) : undefined;
  if (strict !== undefined) {
    losses.push(...strict.losses);
    return strict.schema === format.schema ? format : { ...format, schema: strict.schema };
  }
  const reason = isSupported ? 'Strict mode cannot express this schema.' : 'The vendor does not support strict mode.';
  losses.push({ path: 'response_format.strict', what: 'enforcement of the schema', reason });
  const { strict: _, ...loose } = format;
  return loose;
}

const SUPPORTED_KEYWORDS = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'definitions',
  'description',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maximum',
  'minItems',
  'minimum',
  'multipleOf',
  'pattern',
  'properties',
  'required',
  'title',
  'type',
]);
/** Keywords that describe the schema and constrain no values. */
const ANNOTATIONS = new Set([
  '$comment',
  '$id',
  '$schema',
  'default',
  'deprecated',
  'examples',
  'readOnly',
  'writeOnly',
]);
/** Keywords of combinations and maps. */
const INEXPRESSIBLE = new Set([
  'allOf',
  'not',
  'if',
  'dependentSchemas',
  'dependentRequired',
  'patternProperties',
  'prefixItems',
]);
const FORMATS = new Set(['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uuid']);
const MAX_DEPTH = 10;
/** The most properties of all objects together. */
const MAX_PROPERTIES = 5_000;

/**
 * Returns `undefined` for schemas that strict mode cannot express: maps, untyped values, combinations, nesting deeper
 * than ten levels, or more than 5,000 properties.
 */
export function toStrictSchema(schema: JsonObject, quirks: StrictQuirks = {}): StrictSchema | undefined {
  const losses: Loss[] = [];
  if (!isObjectType(schema) || 'anyOf' in schema || 'oneOf' in schema) return undefined;
  if (propertiesWithin(schema) > MAX_PROPERTIES) return undefined;
  const strict = convertNode(schema, 'response_format.schema', { losses, quirks }, 0);
  return strict === undefined ? undefined : { schema: strict, losses };
}

/** The number of properties, or any above the limit. */
function propertiesWithin(node: object): number {
  let count = 0;
  for (const [keyword, value] of Object.entries(node) as readonly (readonly [string, unknown])[]) {
    if (typeof value !== 'object' || value === null) continue;
    if (keyword === 'properties') count += Object.keys(value).length;
    if (count > MAX_PROPERTIES) break;
    count += propertiesWithin(value);
  }
  return count;
}

/** The node itself if nothing has to change. */
function convertNode(schema: unknown, path: string, target: Target, depth: number): JsonObject | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  const converted = convertKeywords(schema, path, target, depth);
  return converted !== undefined && hasSameFields(converted, schema) ? schema : converted;
}

function convertKeywords(schema: JsonObject, path: string, target: Target, depth: number): JsonObject | undefined {
  const strict: Record<string, unknown> = {};
  const { strictKeywords = [] } = target.quirks;
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    // OpenAI's own SDKs remove a default of null: https://github.com/openai/openai-python/pull/1663
    if (strictKeywords.includes(keyword) && value !== null) strict[keyword] = value;
    else if (INEXPRESSIBLE.has(keyword)) return undefined;
    else if (keyword === 'oneOf' && !('anyOf' in schema)) {
      strict.anyOf = value;
      target.losses.push({ path, what: 'oneOf', reason: 'It is sent as anyOf.' });
    } else if (SUPPORTED_KEYWORDS.has(keyword) && !(keyword === 'format' && !FORMATS.has(String(value))))
      strict[keyword] = value;
    else if (!ANNOTATIONS.has(keyword))
      target.losses.push({
        path: `${path}.${keyword}`,
        what: keyword,
        reason: 'Strict mode does not support this keyword.',
      });
  }
  if (
    strict.$ref === undefined &&
    strict.anyOf === undefined &&
    strict.enum === undefined &&
    strict.const === undefined &&
    strict.type === undefined
  )
    return undefined;
  return withChildren(strict, path, target, depth);
}

function withChildren(
  strict: Record<string, unknown>,
  path: string,
  target: Target,
  depth: number,
): JsonObject | undefined {
  for (const keyword of ['$defs', 'definitions'] as const) {
    if (strict[keyword] === undefined) continue;
    const defined = eachOf(strict[keyword], (child, name) =>
      convertNode(child, `${path}.${keyword}.${name}`, target, depth),
    );
    if (defined === undefined) return undefined;
    strict[keyword] = defined;
  }
  if (Array.isArray(strict.anyOf)) {
    const choices = convertEach(strict.anyOf, `${path}.anyOf`, target, depth);
    if (choices === undefined) return undefined;
    strict.anyOf = choices;
  }
  if (typesOf(strict).includes('array')) {
    const items = convertNode(strict.items, `${path}.items`, target, depth + 1);
    if (items === undefined) return undefined;
    strict.items = items;
    if (Array.isArray(strict.prefixItems)) {
      const places = convertEach(strict.prefixItems, `${path}.prefixItems`, target, depth + 1);
      if (places === undefined) return undefined;
      strict.prefixItems = places;
    }
  }
  return isObjectType(strict) ? closeObject(strict, path, target, depth) : strict;
}

/** Closes an object. Optional properties become required and nullable, as OpenAI's strict mode expresses them. */
function closeObject(
  strict: Record<string, unknown>,
  path: string,
  target: Target,
  depth: number,
): JsonObject | undefined {
  const isOpen = strict.additionalProperties !== undefined && strict.additionalProperties !== false;
  if (isOpen || (strict.properties === undefined && strict.additionalProperties !== false)) return undefined;
  const required = new Set<unknown>(Array.isArray(strict.required) ? strict.required : []);
  const keepsOptionals = target.quirks.acceptsStrictOptionals === true;
  const properties = eachOf(strict.properties ?? {}, (child, name) => {
    const property = convertNode(child, `${path}.properties.${name}`, target, depth + 1);
    return property === undefined || required.has(name) || keepsOptionals ? property : orNull(property);
  });
  if (properties === undefined) return undefined;
  const names = Object.keys(properties);
  const isComplete = keepsOptionals || (required.size === names.length && names.every((name) => required.has(name)));
  return { ...strict, properties, ...(isComplete ? {} : { required: names }), additionalProperties: false };
}

function orNull(schema: JsonObject): JsonObject {
  const types = typesOf(schema);
  if (types.includes('null')) return schema;
  if (types.length === 0 || schema.const !== undefined) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {}),
  };
}

/** The list itself if nothing has to change. */
function convertEach(
  schemas: readonly unknown[],
  path: string,
  target: Target,
  depth: number,
): readonly unknown[] | undefined {
  const converted = schemas.map((schema, index) => convertNode(schema, `${path}[${index}]`, target, depth));
  if (converted.includes(undefined)) return undefined;
  return converted.some((schema, index) => schema !== schemas[index]) ? converted : schemas;
}

function eachOf(
  children: unknown,
  convert: (child: unknown, name: string) => JsonObject | undefined,
): JsonObject | undefined {
  if (!isObject(children)) return undefined;
  // The first that strict mode cannot express decides.
  const state = { isPossible: true };
  const converted = mapFields(children, (child, name) => {
    const one = state.isPossible ? convert(child, name) : undefined;
    if (one === undefined) state.isPossible = false;
    return one;
  });
  return state.isPossible ? converted : undefined;
}

function hasSameFields(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

function isObjectType(schema: Readonly<Record<string, unknown>>): boolean {
  return typesOf(schema).includes('object');
}

function typesOf({ type }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}
