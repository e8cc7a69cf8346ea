/** Meteor's SimpleSchema as JSON Schema and check; it knows the places where the package's own conversion is wrong. */
import { toJsonSchema } from 'simpl-schema';
import { isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { ResolvedSchema, Validated } from './ResolvedSchema';
import { pathStep } from './SchemaViolations';

/** The part of a SimpleSchema that is used: instances of another copy of the package are welcome. */
export interface SimpleSchemaLike {
  clean(value: Record<string, unknown>, options: object): unknown;
  newContext(): { validate(value: unknown): boolean; validationErrors(): readonly SimpleSchemaError[] };
  messageForError(error: never): string;
}
interface SimpleSchemaError {
  readonly name: string;
  readonly type: string;
}

/** As the package itself tells its instances, plus the methods that are called here. */
export function isSimpleSchema(schema: unknown): schema is SimpleSchemaLike {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '_schema')) return false;
  return ['clean', 'newContext', 'messageForError', 'objectKeys'].every(
    (method) => typeof (schema as JsonObject)[method] === 'function',
  );
}

/**
 * The value that `validate` gives is cleaned: date texts are Dates and default values are filled in; nothing is
 * trimmed or removed.
 */
export function readSimpleSchema(schema: SimpleSchemaLike): ResolvedSchema {
  return {
    // The package types its argument by its class, whose private parts another copy's class doesn't share.
    jsonSchema: repaired(toJsonSchema(schema as unknown as Parameters<typeof toJsonSchema>[0])) as JsonObject,
    validate: (value) => Promise.resolve(validate(schema, value)),
  };
}

function validate(schema: SimpleSchemaLike, value: unknown): Validated<unknown> {
  if (!isObject(value)) {
    return { ok: false, violations: [{ path: '$', message: 'must be an object' }] };
  }
  const cleaned = schema.clean(value, { mutate: false, filter: false, trimStrings: false, removeEmptyStrings: false });
  const context = schema.newContext();
  if (context.validate(cleaned)) return { ok: true, value: cleaned };
  return {
    ok: false,
    violations: context.validationErrors().map((error) => ({
      path: error.name.split('.').reduce((path, key) => path + pathStep(/^\d+$/.test(key) ? Number(key) : key), '$'),
      message: schema.messageForError(error as never),
    })),
  };
}

/**
 * simpl-schema 3.4.6 writes an array's items as a tuple of one (`items: [x]`, refused by draft 2020-12 and wrong in
 * draft-07), a pattern with its slashes and flags, and bounds that may be infinite. Counts and allowed numbers it
 * leaves out are found by `validate`.
 */
function repaired(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(repaired);
  if (typeof node !== 'object' || node === null) return node;
  const { additionalItems, ...rest } = node as JsonObject;
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'items' && additionalItems === false && Array.isArray(value)) result.items = repaired(value[0]);
    else if (key === 'pattern' && typeof value === 'string') Object.assign(result, patternOf(value));
    else if (typeof value !== 'number' || Number.isFinite(value)) result[key] = repaired(value);
  }
  return result;
}

/** `/source/flags`: JSON Schema has no flags, so a pattern whose flags change what it matches is only described. */
function patternOf(text: string): JsonObject {
  const end = text.lastIndexOf('/');
  if (!text.startsWith('/') || end === 0) return { pattern: text };
  return /[ims]/.test(text.slice(end + 1)) ? { description: `must match ${text}` } : { pattern: text.slice(1, end) };
}
