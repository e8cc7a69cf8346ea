/**
 * Reads what arguments a method or a publication takes. Meteor keeps a function and nothing else, so this reads what
 * the packages that define methods have in its variables, or the checks in its source:
 *
 * - jam:method: `schema`, of any kind (github.com/jamauro/method, method.js, `createMethod`)
 * - mdg:validated-method: `method`, whose `validate` calls a schema (validated-method.js, the constructor)
 * - zodern:relay: `config.schema` (server-main.ts, `createMethod` and `createPublication`)
 * - others: `check(argument, pattern)` and `schema.parse(argument)` or `schema.validate(argument)`
 */
import type { CallExpression, Expression, Pattern, SpreadElement } from 'acorn';
import { resolveSchema } from '../../../library/resolveSchema';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isSimpleSchema } from '../../../business/ai/domain/util/isSimpleSchema';
import { fieldsOf, isList, isObject } from '../../../business/ai/domain/util/json';
import { describeObject, describePattern, UNDESCRIBED } from './describePattern';
import type { DescribedValue } from './describePattern';
import { evaluate, UNKNOWN } from './evaluate';
import type { Names } from './evaluate';
import { parseFunction } from './parseFunction';
import type { ParsedFunction, ParseModule } from './parseFunction';
import { variablesOf } from './variablesOf';
import type { AnyFunction } from './variablesOf';

export interface ReadMethod {
  /** JSON Schema of an object, or a SimpleSchema. */
  readonly parameters: unknown;
  /** Maps that object to the function's arguments. */
  readonly toArguments: (given: JsonObject) => readonly unknown[];
}

export interface ReadPorts {
  readonly acorn: ParseModule;
  readonly Match: Readonly<Record<string, unknown>> | undefined;
}

const NONE: ReadMethod = {
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  toArguments: () => [],
};
const POSITIONAL: ReadMethod = {
  parameters: {
    type: 'object',
    properties: { arguments: { type: 'array', description: 'The arguments, in their order.' } },
  },
  toArguments: (given) => (isList(given['arguments']) ? given['arguments'] : []),
};
const VALIDATORS: ReadonlySet<string> = new Set(['parse', 'parseAsync', 'safeParse', 'safeParseAsync', 'validate']);

/** @param name the method's or the publication's own */
export function readMethod(name: string, handler: AnyFunction, ports: ReadPorts): ReadMethod {
  const variables = variablesOf(handler);
  const schema = schemaOfPackage(name, variables, ports);
  if (schema !== undefined) return fromSchema(schema, ports);
  const parsed = parseFunction(ports.acorn, handler, variables);
  return parsed === undefined ? POSITIONAL : fromSource(parsed, { variables, Match: ports.Match ?? {} }, ports);
}

function schemaOfPackage(
  name: string,
  variables: ReadonlyMap<string, unknown>,
  ports: ReadPorts,
): { readonly schema: unknown } | undefined {
  const config = fieldsOf(variables.get('config'));
  if (config['name'] === name && config['schema'] !== undefined) return { schema: config['schema'] };
  const method: unknown = variables.get('method');
  if (isValidated(method, name))
    return 'schema' in method && isSchema(method.schema)
      ? { schema: method.schema }
      : readValidator(method.validate, ports);
  if (variables.get('name') !== name || !variables.has('validate')) return undefined;
  const schema = variables.get('schema');
  if (schema !== undefined) return { schema };
  const validate = variables.get('validate');
  return typeof validate === 'function' ? readValidator(validate as AnyFunction, ports) : undefined;
}

/** An instance of ValidatedMethod. */
function isValidated(method: unknown, name: string): method is { readonly validate: AnyFunction } {
  if (typeof method !== 'object' || method === null) return false;
  const { name: own, validate, run } = method as Readonly<Record<string, unknown>>;
  return own === name && typeof validate === 'function' && typeof run === 'function';
}

/** The schema that a function applies to its only argument. */
function readValidator(validate: AnyFunction, ports: ReadPorts): { readonly schema: unknown } | undefined {
  const variables = variablesOf(validate);
  const schema = schemaOfValidator(validate, variables);
  if (schema !== undefined) return { schema };
  const parsed = parseFunction(ports.acorn, validate, variables);
  if (parsed === undefined) return undefined;
  if (parsed.parameters.length === 0) return { schema: NONE };
  const read = fromSource(parsed, { variables, Match: ports.Match ?? {} }, ports);
  return { schema: read };
}

/**
 * `new SimpleSchema({ … }).validator()` refers to its schema by `this` only. The class is among its variables, and its
 * `validate` tells for which schema it is called.
 */
function schemaOfValidator(validator: AnyFunction, variables: ReadonlyMap<string, unknown>): unknown {
  for (const variable of variables.values()) {
    const prototype = typeof variable === 'function' ? (variable as { prototype?: unknown }).prototype : undefined;
    if (!isSimpleSchemaPrototype(prototype)) continue;
    // A function of the app is not run: it may do more than validate.
    if (!String(prototype.validator).includes(String(validator))) continue;
    const { validate, clean } = prototype;
    const called: unknown[] = [];
    try {
      prototype.validate = function (this: unknown): void {
        called.push(this);
      };
      prototype.clean = () => undefined;
      (validator as (value: object) => unknown)({});
    } finally {
      Object.assign(prototype, { validate, clean });
    }
    const [schema] = called;
    if (isSimpleSchema(schema)) return schema;
  }
  return undefined;
}

interface SimpleSchemaPrototype {
  validator: AnyFunction;
  validate: unknown;
  clean: unknown;
}

function isSimpleSchemaPrototype(prototype: unknown): prototype is SimpleSchemaPrototype {
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    ['validator', 'validate', 'clean', 'getObjectSchema'].every(
      (name) => typeof (prototype as Readonly<Record<string, unknown>>)[name] === 'function',
    )
  );
}

function isSchema(value: unknown): boolean {
  return isSimpleSchema(value) || isStandardSchema(value);
}

function isStandardSchema(value: unknown): boolean {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value;
}

function fromSchema({ schema }: { readonly schema: unknown }, ports: ReadPorts): ReadMethod {
  if (isReadMethod(schema)) return schema;
  if (isSimpleSchema(schema)) return { parameters: schema, toArguments: (given) => [given] };
  if (!isStandardSchema(schema)) return fromArgument(describe(schema, ports), 'input');
  // The method itself makes of its argument what the schema makes of it, such as a Date.
  const { jsonSchema } = describeStandard(schema);
  if (jsonSchema === undefined) return NONE;
  return fromArgument({ schema: jsonSchema, isOptional: false }, 'input');
}

function isReadMethod(schema: unknown): schema is ReadMethod {
  return typeof schema === 'object' && schema !== null && 'toArguments' in schema && 'parameters' in schema;
}

/** Describes nothing for a schema of methods without arguments, such as `z.undefined()`. */
function describeStandard(schema: unknown): { readonly jsonSchema: JsonObject | undefined } {
  try {
    const { jsonSchema } = resolveSchema(schema);
    return { jsonSchema };
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    const standard = (schema as { readonly '~standard': { validate: (value: unknown) => unknown } })['~standard'];
    const result = standard.validate(undefined);
    const acceptsNothing = !(result instanceof Promise) && isObject(result) && result['issues'] === undefined;
    return { jsonSchema: acceptsNothing ? undefined : { type: 'object' } };
  }
}

function describe(pattern: unknown, ports: ReadPorts): DescribedValue {
  return describePattern(pattern, (condition) => {
    if (typeof condition !== 'function') return UNDESCRIBED;
    const variables = variablesOf(condition as AnyFunction);
    const parsed = parseFunction(ports.acorn, condition as AnyFunction, variables);
    if (parsed === undefined) return UNDESCRIBED;
    return describeParameters(parsed, { variables, Match: ports.Match ?? {} }, ports)?.[0]?.value ?? UNDESCRIBED;
  });
}

/** The only argument of a function is the model's object, if it is one, or the field `name` of it. */
function fromArgument({ schema, revive = (value) => value }: DescribedValue, name: string): ReadMethod {
  return schema['type'] === 'object'
    ? { parameters: schema, toArguments: (given) => [revive(given)] }
    : {
        parameters: { type: 'object', properties: { [name]: schema }, additionalProperties: false },
        toArguments: (given) => [revive(given[name])],
      };
}

function fromSource(parsed: ParsedFunction, names: Names, ports: ReadPorts): ReadMethod {
  const parameters = describeParameters(parsed, names, ports);
  if (parameters === undefined) return POSITIONAL;
  const [only, ...others] = parameters;
  if (only === undefined) return NONE;
  if (isReadMethod(only.schema)) return only.schema;
  if (others.length === 0 && (only.value.schema['type'] === 'object' || only.isDestructured))
    return fromArgument(only.value, only.name);
  const { schema, revive } = describeObject(
    parameters.map(({ name, value }) => [name, value] as const),
    { additionalProperties: false },
  );
  return {
    parameters: schema,
    toArguments(given) {
      const revived = fieldsOf(revive === undefined ? given : revive(given));
      const values = parameters.map(({ name }) => revived[name]);
      return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
    },
  };
}

interface Parameter {
  readonly name: string;
  readonly isDestructured: boolean;
  readonly value: DescribedValue;
  /** A schema that is used as it is. */
  readonly schema?: ReadMethod | undefined;
}

/** @returns undefined if it takes any number of arguments */
function describeParameters(
  { parameters, calls, usesArguments }: ParsedFunction,
  names: Names,
  ports: ReadPorts,
): readonly Parameter[] | undefined {
  if (parameters.some(({ type }) => type === 'RestElement') || (usesArguments && parameters.length === 0))
    return undefined;
  const checked = new Map<string, unknown>();
  for (const call of calls) for (const [name, pattern] of readCheck(call, names)) checked.set(name, pattern);
  return parameters.map((parameter, index) => describeParameter(parameter, index, checked, ports));
}

function describeParameter(
  parameter: Pattern,
  index: number,
  checked: ReadonlyMap<string, unknown>,
  ports: ReadPorts,
): Parameter {
  if (parameter.type === 'AssignmentPattern') {
    const described = describeParameter(parameter.left, index, checked, ports);
    return { ...described, value: { ...described.value, isOptional: true } };
  }
  const valueOf = (name: string): DescribedValue =>
    checked.has(name) ? describe(checked.get(name), ports) : { ...UNDESCRIBED, isOptional: true };
  if (parameter.type === 'ObjectPattern') {
    const fields = parameter.properties.flatMap((property) => {
      if (property.type === 'RestElement' || property.key.type !== 'Identifier') return [];
      const { value } = property;
      const local = value.type === 'AssignmentPattern' ? value.left : value;
      const described = local.type === 'Identifier' ? valueOf(local.name) : { ...UNDESCRIBED, isOptional: true };
      const isOptional = described.isOptional || value.type === 'AssignmentPattern';
      return [[property.key.name, { ...described, isOptional }] as const];
    });
    return { name: 'input', isDestructured: true, value: describeObject(fields) };
  }
  const name = parameter.type === 'Identifier' ? parameter.name : `argument${index + 1}`;
  const pattern = checked.get(name);
  if (isSchema(pattern))
    return { name, isDestructured: false, value: UNDESCRIBED, schema: fromSchema({ schema: pattern }, ports) };
  return { name, isDestructured: false, value: checked.has(name) ? valueOf(name) : UNDESCRIBED };
}

/** What a call checks: names of arguments, with patterns or schemas. */
function readCheck(
  { callee, arguments: given }: CallExpression,
  names: Names,
): readonly (readonly [string, unknown])[] {
  const called = callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee;
  const [value, pattern] = given;
  if (called === undefined || value === undefined) return [];
  const own = called.type === 'Identifier' ? called.name : undefined;
  const member =
    called.type === 'MemberExpression' && called.property.type === 'Identifier' ? called.property.name : undefined;
  if ((own === 'check' || member === 'check') && pattern !== undefined) return pairs(value, evaluate(pattern, names));
  if (member === undefined || !VALIDATORS.has(member) || called.type !== 'MemberExpression') return [];
  const schema = called.object.type === 'Super' ? UNKNOWN : evaluate(called.object, names);
  return value.type === 'Identifier' && isSchema(schema) ? [[value.name, schema]] : [];
}

/** `check(id, String)`, `check([a, b], [String])` and `check({ a, b }, { a: String, b: Number })`. */
function pairs(value: Expression | SpreadElement, pattern: unknown): readonly (readonly [string, unknown])[] {
  if (pattern === UNKNOWN) return [];
  if (value.type === 'Identifier') return [[value.name, pattern]];
  if (value.type === 'ArrayExpression' && isList(pattern))
    return value.elements.flatMap((element) => (element === null ? [] : pairs(element, pattern[0])));
  if (value.type !== 'ObjectExpression' || !isObject(pattern)) return [];
  return value.properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' && property.key.name in pattern
      ? pairs(property.value, pattern[property.key.name])
      : [],
  );
}
