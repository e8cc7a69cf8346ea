/**
 * Describes the patterns of Meteor's `check` as JSON Schema. The classes are private to the package, so they are known
 * by their names and fields (packages/check/match.js).
 */
import { isList, isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

export interface DescribedValue {
  readonly schema: JsonObject;
  /** Whether the argument or the field may be missing. */
  readonly isOptional: boolean;
  /** Makes of a JSON value what the pattern matches, such as a Date. Absent: the value itself. */
  readonly revive?: (value: unknown) => unknown;
}

/** Anything may be given. */
export const UNDESCRIBED: DescribedValue = { schema: {}, isOptional: false };

const MAX_DEPTH = 20;
const TYPES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [Object, 'object'],
  [Array, 'array'],
]);
/** `Match.Any` and the like are lists with one of these texts. */
const MARKERS: Readonly<Record<string, JsonObject>> = {
  __any__: {},
  __integer__: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  __NonEmptyString__: { type: 'string', minLength: 1 },
};

/** @param describeCondition describes what the function of `Match.Where` accepts, where it can be read */
export function describePattern(
  pattern: unknown,
  describeCondition: (condition: unknown) => DescribedValue = () => UNDESCRIBED,
  depth = 0,
): DescribedValue {
  if (depth > MAX_DEPTH) return UNDESCRIBED;
  const describe = (inner: unknown): DescribedValue => describePattern(inner, describeCondition, depth + 1);
  const type = TYPES.get(pattern);
  if (type !== undefined) return of({ type });
  if (pattern === undefined) return { schema: {}, isOptional: true };
  if (pattern === null) return of({ type: 'null' });
  if (typeof pattern === 'string' || typeof pattern === 'number' || typeof pattern === 'boolean')
    return of({ const: pattern });
  if (typeof pattern === 'function') return describeClass(pattern);
  if (isList(pattern)) {
    const [element] = pattern;
    const marker = typeof element === 'string' ? MARKERS[element] : undefined;
    return marker === undefined ? describeList(describe(element)) : of(marker);
  }
  if (typeof pattern !== 'object') return UNDESCRIBED;
  const { pattern: inner, choices, condition } = pattern as MatchClass;
  switch (pattern.constructor.name) {
    case 'Optional':
    case 'Maybe':
      return { ...describe(inner), isOptional: true };
    case 'OneOf':
      return describeChoices(isList(choices) ? choices.map(describe) : [], choices);
    case 'Where':
      return describeCondition(condition);
    case 'ObjectIncluding':
      return describeFields(inner, describe, { additionalProperties: true });
    case 'ObjectWithValues':
      return of({ type: 'object', additionalProperties: describe(inner).schema });
    default:
      return describeFields(pattern, describe, { additionalProperties: false });
  }
}

interface MatchClass {
  readonly pattern?: unknown;
  readonly choices?: unknown;
  readonly condition?: unknown;
}

/** @param others whether unknown fields are accepted */
export function describeObject(
  fields: readonly (readonly [name: string, field: DescribedValue])[],
  others: JsonObject = {},
): DescribedValue {
  const revived = fields.filter(([, { revive }]) => revive !== undefined);
  const required = fields.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, field.schema])),
    ...(required.length === 0 ? {} : { required }),
    ...others,
  };
  if (revived.length === 0) return of(schema);
  return {
    ...of(schema),
    revive: (value) =>
      isObject(value)
        ? {
            ...value,
            ...Object.fromEntries(
              revived.flatMap(([name, { revive }]) =>
                Object.hasOwn(value, name) ? [[name, revive?.(value[name])]] : [],
              ),
            ),
          }
        : value,
  };
}

function of(schema: JsonObject): DescribedValue {
  return { schema, isOptional: false };
}

function describeFields(
  pattern: unknown,
  describe: (inner: unknown) => DescribedValue,
  others: JsonObject,
): DescribedValue {
  if (typeof pattern !== 'object' || pattern === null) return UNDESCRIBED;
  return describeObject(
    Object.entries(pattern).map(([name, field]) => [name, describe(field)] as const),
    others,
  );
}

function describeList({ schema, revive }: DescribedValue): DescribedValue {
  const list = of({ type: 'array', items: schema });
  return revive === undefined
    ? list
    : { ...list, revive: (value) => (isList(value) ? value.map((each) => revive(each)) : value) };
}

function describeChoices(choices: readonly DescribedValue[], patterns: unknown): DescribedValue {
  const isOptional = isList(patterns) && patterns.includes(undefined);
  const possible = choices.filter(({ isOptional: isUndefined, schema }) => !isUndefined || 'type' in schema);
  const values = possible.map(({ schema }) => schema['const']);
  if (values.length > 0 && possible.every(({ schema }) => 'const' in schema))
    return { schema: { enum: values }, isOptional };
  const [only, ...others] = possible;
  if (only !== undefined && others.length === 0) return { ...only, isOptional };
  const revived = possible.filter(({ revive }) => revive !== undefined);
  const schema = { anyOf: possible.map((each) => each.schema) };
  const [revivable, ...further] = revived;
  const isText = possible.filter((each) => each.schema['type'] === 'string').length > 1;
  // A text may be meant as a Date or as itself where both are accepted.
  return revivable?.revive === undefined || further.length > 0 || isText
    ? { schema, isOptional }
    : {
        schema,
        isOptional,
        revive: (value) => (typeof value === 'string' ? revivable.revive?.(value) : value),
      };
}

/** `Date`, `Mongo.ObjectID`; instances of other classes cannot be written as JSON. */
function describeClass(constructor: object): DescribedValue {
  if (constructor === Date)
    return { ...of({ type: 'string', format: 'date-time' }), revive: (value) => new Date(String(value)) };
  if ((constructor as { readonly name?: unknown }).name !== 'ObjectID') return UNDESCRIBED;
  const ObjectID = constructor as new (text: string) => object;
  return { ...of({ type: 'string', pattern: '^[0-9a-f]{24}$' }), revive: (value) => new ObjectID(String(value)) };
}
