/**
 * Explains where and why a body violates a schema. Ajv decides whether it does, but its errors name every alternative
 * that failed, while a reader needs the intended one: the alternative with the same `type` or `role`.
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, asString, isArray, isObject } from '../json';

export interface Violation {
  /** Relative to the body's root. */
  readonly path: readonly string[];
  readonly problem: 'unknown' | 'missing' | 'wrong';
  /** For a wrong value, what the schema requires. */
  readonly expected: string;
}

type Path = readonly string[];

export function explainViolation(schema: JsonObject, body: unknown): Violation | undefined {
  return explain(schema, body, [], schema);
}

function explain(given: JsonObject, value: unknown, path: Path, root: JsonObject): Violation | undefined {
  const schema = resolved(given, root);
  return (
    explainAlternatives(schema, value, path, root) ??
    firstOf(asArray(schema.allOf).filter(isObject), (part) => explain(part, value, path, root)) ??
    explainValue(schema, value, path) ??
    (isObject(value) ? explainObject(schema, value, path, root) : undefined) ??
    (isArray(value) ? explainArray(schema, value, path, root) : undefined)
  );
}

/** The violation of the closest alternative, or undefined when one matches. */
function explainAlternatives(schema: JsonObject, value: unknown, path: Path, root: JsonObject): Violation | undefined {
  const alternatives = [...asArray(schema.anyOf), ...asArray(schema.oneOf)]
    .filter(isObject)
    .map((option) => resolved(option, root));
  if (alternatives.length === 0) return undefined;
  const intended = alternatives.filter((option) => isIntended(option, value, root));
  const candidates = intended.length > 0 ? intended : alternatives;
  let nearest: Violation | undefined;
  for (const option of candidates) {
    const violation = explain(option, value, path, root);
    if (violation === undefined) return undefined;
    if (nearest === undefined || violation.path.length > nearest.path.length) nearest = violation;
  }
  return intended.length > 0
    ? nearest
    : { path: kindPath(value, path), problem: 'wrong', expected: 'is none of the allowed kinds' };
}

const KINDS = ['type', 'role'] as const;

/** Whether the alternative accepts values of this JSON type and, for objects, of this `type` and `role`. */
function isIntended(option: JsonObject, value: unknown, root: JsonObject): boolean {
  const nested = [...asArray(option.anyOf), ...asArray(option.oneOf)].filter(isObject);
  if (nested.length > 0) return nested.some((inner) => isIntended(resolved(inner, root), value, root));
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

function kindPath(value: unknown, path: Path): Path {
  const kind = isObject(value) ? KINDS.find((name) => typeof value[name] === 'string') : undefined;
  return kind === undefined ? path : [...path, kind];
}

function explainObject(schema: JsonObject, value: JsonObject, path: Path, root: JsonObject): Violation | undefined {
  const properties = asObject(schema.properties);
  const wrong = firstOf(Object.keys(properties), (name) =>
    name in value && isObject(properties[name])
      ? explain(properties[name], value[name], [...path, name], root)
      : undefined,
  );
  if (wrong !== undefined) return wrong;
  const missing = asArray(schema.required)
    .map(asString)
    .find((name) => !(name in value));
  if (missing !== undefined) return { path: [...path, missing], problem: 'missing', expected: '' };
  const others = Object.keys(value).filter((name) => !(name in properties));
  if (schema.additionalProperties === false && others[0] !== undefined)
    return { path: [...path, others[0]], problem: 'unknown', expected: '' };
  const rest = schema.additionalProperties;
  return isObject(rest) ? firstOf(others, (name) => explain(rest, value[name], [...path, name], root)) : undefined;
}

function explainArray(
  schema: JsonObject,
  value: readonly unknown[],
  path: Path,
  root: JsonObject,
): Violation | undefined {
  const { items } = schema;
  if (!isObject(items)) return undefined;
  return firstOf(value.entries(), ([index, item]) => explain(items, item, [...path, String(index)], root));
}

function explainValue(schema: JsonObject, value: unknown, path: Path): Violation | undefined {
  const expected = hasType(schema, value)
    ? (explainFixed(schema, value) ?? explainBounds(schema, value))
    : `must be ${[schema.type].flat().join(' or ')}`;
  return expected === undefined ? undefined : { path, problem: 'wrong', expected };
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
