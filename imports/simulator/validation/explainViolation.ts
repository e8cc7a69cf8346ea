/**
 * Where and why a body breaks a schema. Ajv says whether it does; its errors name every alternative that failed,
 * while a person wants to hear about the one that was meant: the alternative of the same `type` or `role`.
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, asString, isArray, isObject } from '../json';

export interface Violation {
  /** From the body's root. */
  readonly place: readonly string[];
  readonly problem: 'unknown' | 'missing' | 'wrong';
  /** What would be right, for a wrong value. */
  readonly expected: string;
}

type Place = readonly string[];

export function explainViolation(schema: JsonObject, body: unknown): Violation | undefined {
  return explain(schema, body, [], schema);
}

function explain(given: JsonObject, value: unknown, place: Place, root: JsonObject): Violation | undefined {
  const schema = resolved(given, root);
  return (
    explainAlternatives(schema, value, place, root) ??
    firstOf(asArray(schema.allOf).filter(isObject), (part) => explain(part, value, place, root)) ??
    explainValue(schema, value, place) ??
    (isObject(value) ? explainObject(schema, value, place, root) : undefined) ??
    (isArray(value) ? explainArray(schema, value, place, root) : undefined)
  );
}

/** The violation of the alternative that comes nearest, or nothing when one fits. */
function explainAlternatives(
  schema: JsonObject,
  value: unknown,
  place: Place,
  root: JsonObject,
): Violation | undefined {
  const alternatives = [...asArray(schema.anyOf), ...asArray(schema.oneOf)]
    .filter(isObject)
    .map((option) => resolved(option, root));
  if (alternatives.length === 0) return undefined;
  const meant = alternatives.filter((option) => isMeant(option, value, root));
  const candidates = meant.length > 0 ? meant : alternatives;
  let nearest: Violation | undefined;
  for (const option of candidates) {
    const violation = explain(option, value, place, root);
    if (violation === undefined) return undefined;
    if (nearest === undefined || violation.place.length > nearest.place.length) nearest = violation;
  }
  return meant.length > 0
    ? nearest
    : { place: kindPlace(value, place), problem: 'wrong', expected: 'is none of the allowed kinds' };
}

const KINDS = ['type', 'role'] as const;

/** The alternative takes values of this JSON type and, for objects, of this `type` and `role`. */
function isMeant(option: JsonObject, value: unknown, root: JsonObject): boolean {
  const nested = [...asArray(option.anyOf), ...asArray(option.oneOf)].filter(isObject);
  if (nested.length > 0) return nested.some((inner) => isMeant(resolved(inner, root), value, root));
  if (!hasType(option, value)) return false;
  if (!isObject(value)) return true;
  const parts = [
    option,
    ...asArray(option.allOf)
      .filter(isObject)
      .map((part) => resolved(part, root)),
  ];
  return KINDS.every((kind) => {
    const declared = parts.filter((part) => kind in asObject(part.properties));
    if (value[kind] === undefined)
      return declared.every((part) => !asArray(part.required).includes(kind) || !isFixed(kindSchema(part, kind, root)));
    return (
      declared.length > 0 &&
      declared.every((part) => explainFixed(kindSchema(part, kind, root), value[kind]) === undefined)
    );
  });
}

function kindSchema(part: JsonObject, kind: string, root: JsonObject): JsonObject {
  return resolved(asObject(asObject(part.properties)[kind]), root);
}

function kindPlace(value: unknown, place: Place): Place {
  const kind = isObject(value) ? KINDS.find((name) => typeof value[name] === 'string') : undefined;
  return kind === undefined ? place : [...place, kind];
}

function explainObject(schema: JsonObject, value: JsonObject, place: Place, root: JsonObject): Violation | undefined {
  const properties = asObject(schema.properties);
  const wrong = firstOf(Object.keys(properties), (name) =>
    name in value && isObject(properties[name])
      ? explain(properties[name], value[name], [...place, name], root)
      : undefined,
  );
  if (wrong !== undefined) return wrong;
  const missing = asArray(schema.required)
    .map(asString)
    .find((name) => !(name in value));
  if (missing !== undefined) return { place: [...place, missing], problem: 'missing', expected: '' };
  const others = Object.keys(value).filter((name) => !(name in properties));
  if (schema.additionalProperties === false && others[0] !== undefined)
    return { place: [...place, others[0]], problem: 'unknown', expected: '' };
  const rest = schema.additionalProperties;
  return isObject(rest) ? firstOf(others, (name) => explain(rest, value[name], [...place, name], root)) : undefined;
}

function explainArray(
  schema: JsonObject,
  value: readonly unknown[],
  place: Place,
  root: JsonObject,
): Violation | undefined {
  const { items } = schema;
  if (!isObject(items)) return undefined;
  return firstOf(value.entries(), ([index, item]) => explain(items, item, [...place, String(index)], root));
}

function explainValue(schema: JsonObject, value: unknown, place: Place): Violation | undefined {
  const expected = hasType(schema, value)
    ? (explainFixed(schema, value) ?? explainBounds(schema, value))
    : `must be ${[schema.type].flat().join(' or ')}`;
  return expected === undefined ? undefined : { place, problem: 'wrong', expected };
}

function isFixed(schema: JsonObject): boolean {
  return 'const' in schema || isArray(schema.enum);
}

function explainFixed(schema: JsonObject, value: unknown): string | undefined {
  if ('const' in schema && schema.const !== value) return `must be ${JSON.stringify(schema.const)}`;
  if (isArray(schema.enum) && !schema.enum.includes(value))
    return `must be one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`;
  return undefined;
}

const BOUNDS: Readonly<Record<string, (value: unknown, bound: unknown) => boolean>> = {
  minLength: (value, bound) => typeof value !== 'string' || Array.from(value).length >= Number(bound),
  maxLength: (value, bound) => typeof value !== 'string' || Array.from(value).length <= Number(bound),
  pattern: (value, bound) => typeof value !== 'string' || new RegExp(String(bound), 'u').test(value),
  minimum: (value, bound) => typeof value !== 'number' || value >= Number(bound),
  maximum: (value, bound) => typeof value !== 'number' || value <= Number(bound),
  exclusiveMinimum: (value, bound) => typeof value !== 'number' || value > Number(bound),
  exclusiveMaximum: (value, bound) => typeof value !== 'number' || value < Number(bound),
  minItems: (value, bound) => !isArray(value) || value.length >= Number(bound),
  maxItems: (value, bound) => !isArray(value) || value.length <= Number(bound),
};

function explainBounds(schema: JsonObject, value: unknown): string | undefined {
  const broken = Object.keys(BOUNDS).find(
    (keyword) => keyword in schema && BOUNDS[keyword]?.(value, schema[keyword]) === false,
  );
  return broken === undefined ? undefined : `breaks ${broken} ${String(schema[broken])}`;
}

function hasType(schema: JsonObject, value: unknown): boolean {
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  return (
    types.length === 0 || types.includes(typeName(value)) || (types.includes('number') && typeof value === 'number')
  );
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  if (typeof schema.$ref !== 'string') return schema;
  const name = decodeURIComponent(schema.$ref.replace('#/$defs/', '')).replaceAll('~1', '/').replaceAll('~0', '~');
  return resolved(asObject(asObject(root.$defs)[name]), root);
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => Violation | undefined): Violation | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
