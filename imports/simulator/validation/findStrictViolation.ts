/**
 * The requirements of OpenAI's strict mode for a JSON Schema,
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas: every object closed, every property
 * required, an object at the root, and no unsupported keywords.
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, asString, isArray, isObject } from '../json';

const UNSUPPORTED = [
  'allOf',
  'not',
  'dependentRequired',
  'dependentSchemas',
  'if',
  'then',
  'else',
  'oneOf',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
];

/** @returns the first violation of strict mode, in OpenAI's words */
export function findStrictViolation(schema: JsonObject): string | undefined {
  const root = schema.type === undefined && typeof schema.$ref === 'string' ? {} : schema;
  if (root === schema && (schema.type !== 'object' || 'anyOf' in schema))
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? 'None')}'.`;
  return violationAt(schema, []);
}

function violationAt(schema: JsonObject, context: readonly string[]): string | undefined {
  const at = `In context=(${context.map((step) => `'${step}'`).join(', ')}${context.length === 1 ? ',' : ''})`;
  const keyword = UNSUPPORTED.find((word) => word in schema);
  if (keyword !== undefined) return `${at}, '${keyword}' is not permitted.`;
  if (schema.type === 'object' || 'properties' in schema) {
    if (schema.additionalProperties !== false)
      return `${at}, 'additionalProperties' is required to be supplied and to be false.`;
    const names = Object.keys(asObject(schema.properties));
    const missing = names.find((name) => !asArray(schema.required).includes(name));
    if (missing !== undefined)
      return `${at}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    const extra = asArray(schema.required)
      .map(asString)
      .find((name) => !names.includes(name));
    if (extra !== undefined)
      return `${at}, 'required' is required to be supplied and to be an array including every key in properties. Extra required key '${extra}' supplied.`;
  }
  if (schema.type === 'array' && !isObject(schema.items)) return `${at}, array schema missing items.`;
  return firstOf(children(schema, context));
}

function children(schema: JsonObject, context: readonly string[]): readonly [JsonObject, readonly string[]][] {
  const maps = ['properties', '$defs', 'definitions'].flatMap((key) =>
    Object.entries(asObject(schema[key])).map(([name, child]) => [child, [...context, key, name]] as const),
  );
  const alternatives = asArray(schema.anyOf).map(
    (child, index) => [child, [...context, 'anyOf', String(index)]] as const,
  );
  const items = isArray(schema.items) ? [] : [[schema.items, [...context, 'items']] as const];
  return [...maps, ...alternatives, ...items].flatMap(([child, path]) => (isObject(child) ? [[child, path]] : []));
}

function firstOf(places: readonly [JsonObject, readonly string[]][]): string | undefined {
  for (const [schema, context] of places) {
    const violation = violationAt(schema, context);
    if (violation !== undefined) return violation;
  }
  return undefined;
}
