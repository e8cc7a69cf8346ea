/** Every position of a request, by the JSON Schema of its API. */
import { isEmpty, isList, isObject } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export type Path = readonly (string | number)[];

/** A value that is valid, and has the position. */
export interface Position {
  readonly path: Path;
  readonly value: unknown;
}

interface Context {
  readonly root: JsonObject;
  /** References on the way here; each is followed twice. */
  readonly followed: readonly string[];
}

export function positionsOf(schema: JsonObject): readonly Position[] {
  const byPath = new Map<string, Position>();
  for (const position of positions(schema, { root: schema, followed: [] })) {
    const key = JSON.stringify([position.path, variantOf(position)]);
    if (!byPath.has(key)) byPath.set(key, position);
  }
  return [...byPath.values()];
}

/** What tells alternatives apart that have the same fields. */
function variantOf({ value, path }: Position): readonly unknown[] {
  const types: unknown[] = [];
  let at = value;
  for (const step of path) {
    if (isObject(at)) types.push(at['type'], at['role']);
    at = isList(at) ? at[Number(step)] : isObject(at) ? at[step] : undefined;
  }
  return types;
}

function* positions(given: unknown, context: Context): Generator<Position, void, undefined> {
  if (!isObject(given)) {
    yield { path: [], value: 'a text' };
    return;
  }
  const { $ref: reference } = given;
  if (typeof reference === 'string') {
    if (reference === '#' || context.followed.filter((each) => each === reference).length > 1) return;
    const { $ref: _, ...beside } = given;
    const followed = [...context.followed, reference];
    yield* positions({ ...resolve(reference, context.root), ...beside }, { ...context, followed });
    return;
  }
  const alternatives = given['anyOf'] ?? given['oneOf'];
  if (isList(alternatives)) {
    const { anyOf: _any, oneOf: _one, ...shared } = given;
    for (const each of alternatives) yield* positions(merged(shared, each, context), context);
    return;
  }
  if (isList(given['allOf'])) {
    const { allOf, ...shared } = given;
    const whole = allOf.reduce<JsonObject>((all, each) => merged(all, each, context), shared);
    yield* positions(whole, context);
    return;
  }
  const value = minimal(given, context, 0);
  yield { path: [], value };
  const { properties, items, additionalProperties } = given;
  if (isObject(properties) && isObject(value))
    for (const [name, schema] of Object.entries(properties))
      for (const position of positions(schema, context))
        yield { path: [name, ...position.path], value: { ...value, [name]: position.value } };
  if (isObject(additionalProperties) && isObject(value))
    for (const position of positions(additionalProperties, context))
      yield { path: ['a_key', ...position.path], value: { ...value, a_key: position.value } };
  if (items !== undefined)
    for (const position of positions(items, context)) yield { path: [0, ...position.path], value: [position.value] };
}

/** The shortest valid value. */
function minimal(given: unknown, context: Context, depth: number): unknown {
  if (!isObject(given) || depth > 12) return 'a text';
  if (typeof given['$ref'] === 'string') {
    const { $ref, ...beside } = given;
    return minimal({ ...resolve($ref, context.root), ...beside }, context, depth + 1);
  }
  const { const: only, enum: values, anyOf, oneOf, allOf, type, properties, required, items, minItems } = given;
  if (only !== undefined) return only;
  if (isList(values)) return values[0];
  const alternatives = anyOf ?? oneOf;
  if (isList(alternatives)) {
    const { anyOf: _any, oneOf: _one, ...shared } = given;
    return minimal(merged(shared, alternatives[0], context), context, depth + 1);
  }
  if (isList(allOf)) {
    const { allOf: _, ...shared } = given;
    return minimal(
      allOf.reduce<JsonObject>((all, each) => merged(all, each, context), shared),
      context,
      depth + 1,
    );
  }
  switch (isList(type) ? type[0] : (type ?? (isObject(properties) ? 'object' : undefined))) {
    case 'object': {
      const fields = isObject(properties) ? properties : {};
      const names = isList(required) ? required.map(String) : [];
      return Object.fromEntries(names.map((name) => [name, minimal(fields[name], context, depth + 1)]));
    }
    case 'array':
      return Number(minItems ?? 0) > 0 ? [minimal(items, context, depth + 1)] : [];
    case 'integer':
    case 'number':
      return Number(given['minimum'] ?? given['exclusiveMinimum'] ?? 0) + 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'a text';
  }
}

function merged(shared: JsonObject, each: unknown, context: Context): JsonObject {
  let other = isObject(each) ? each : {};
  if (typeof shared['$ref'] === 'string') {
    const { $ref, ...beside } = shared;
    return merged({ ...resolve($ref, context.root), ...beside }, each, context);
  }
  if (typeof other['$ref'] === 'string') {
    const { $ref, ...beside } = other;
    // A bare reference stays one, so that recursion is noticed.
    if (['properties', 'required', 'type', '$ref'].every((name) => !(name in shared)) && isEmpty(beside))
      return { ...shared, $ref };
    other = { ...resolve($ref, context.root), ...beside };
  }
  const properties = {
    ...(shared['properties'] as object | undefined),
    ...(other['properties'] as object | undefined),
  };
  const required = [...listOf(shared['required']), ...listOf(other['required'])];
  const allOf = [...listOf(shared['allOf']), ...listOf(other['allOf'])];
  return {
    ...shared,
    ...other,
    ...(allOf.length === 0 ? {} : { allOf }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

function resolve(reference: string, root: JsonObject): JsonObject {
  let at: unknown = root;
  for (const step of reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((each) => each !== ''))
    at = isObject(at) ? at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return isObject(at) ? at : {};
}

/** The value with another one in one position. */
export function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (isList(value)) return value.map((each, index) => (index === step ? replaced(each, rest, by) : each));
  if (isObject(value)) return { ...value, [step]: replaced(value[step], rest, by) };
  return value;
}

export function valueAt(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return value;
  if (isList(value)) return valueAt(value[Number(step)], rest);
  return isObject(value) ? valueAt(value[step], rest) : undefined;
}

export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
