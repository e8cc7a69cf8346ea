/**
 * Converts Meteor's SimpleSchema to JSON Schema and a validator, and corrects the errors of the package's own
 * conversion.
 */
import { toJsonSchema } from 'simpl-schema';
import { isObject } from '../../../domain/json';
import type { SimpleSchemaLike } from '../../../domain/types/Schemas';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { ResolvedSchema, Validated } from './ResolvedSchema';
import { pathStep } from './SchemaViolations';

/** Recognizes instances as the package itself does, and checks for the methods that are called here. */
export function isSimpleSchema(schema: unknown): schema is SimpleSchemaLike {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '_schema')) return false;
  return ['clean', 'newContext', 'messageForError', 'objectKeys'].every(
    (method) => typeof (schema as JsonObject)[method] === 'function',
  );
}

/**
 * `validate` returns a cleaned value: date strings become Dates and defaults are filled in; nothing is trimmed or
 * removed.
 */
export function readSimpleSchema(schema: SimpleSchemaLike): ResolvedSchema {
  return {
    // The package types its argument by its class, whose private members differ in another copy of the class.
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
 * simpl-schema 3.4.6 writes array items as a tuple of one (`items: [x]`, invalid in draft 2020-12 and wrong in
 * draft-07), patterns with their slashes and flags, and bounds that may be infinite. It omits counts and allowed
 * numbers, which `validate` checks.
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
