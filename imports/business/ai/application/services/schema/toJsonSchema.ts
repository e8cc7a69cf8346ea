/**
 * Converts any schema that callers pass (JSON Schema, SimpleSchema, any Standard Schema) to a JSON Schema and a
 * validator.
 */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { isSimpleSchema } from '../../../domain/util/isSimpleSchema';
import { isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { AnySchema, StandardResult, StandardSchema } from '../../../domain/types/Schemas';
import type { ResolvedSchema, Validated } from './ResolvedSchema';
import { readSimpleSchema } from './SimpleSchemaReader';
import { pathStep } from './SchemaViolations';
import { describeValibot } from './describeValibot';
import { describeZod3, isZod3 } from './describeZod3';

/**
 * @throws LLMInvalidRequestError for anything but a schema, and for a Standard Schema that cannot be converted to JSON
 *   Schema. `validate` finds out whether the JSON Schema itself is valid.
 */
export function toJsonSchema<Output>(schema: AnySchema<Output>): ResolvedSchema<Output>;
export function toJsonSchema(schema: unknown): ResolvedSchema;
export function toJsonSchema(schema: unknown): ResolvedSchema {
  if (isStandardSchema(schema))
    return {
      jsonSchema: describeStandardSchema(schema),
      validate: (value) => validateStandard(schema, value),
      converts: true,
    };
  if (isSimpleSchema(schema)) return readSimpleSchema(schema);
  if (isObject(schema)) return { jsonSchema: schema };
  throw new LLMInvalidRequestError('"schema" must be a JSON Schema object, a SimpleSchema or a Standard Schema.', {
    path: 'schema',
  });
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  // arktype's schemas are functions.
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || !('~standard' in schema))
    return false;
  const standard = schema['~standard'];
  return isObject(standard) && standard.version === 1 && typeof standard.validate === 'function';
}

type Describe = (options: { readonly target: string; readonly io?: 'input' }) => unknown;

/**
 * Uses Standard JSON Schema (https://standardschema.dev/json-schema) or else the library's own method. Describes the
 * input, since that is what is validated.
 */
function describeStandardSchema(schema: StandardSchema): JsonObject {
  const standard: { readonly vendor: string; readonly jsonSchema?: unknown } = schema['~standard'];
  const { vendor } = standard;
  const own: { readonly toJSONSchema?: unknown; readonly toJsonSchema?: unknown } = schema as object;
  const converter = isObject(standard.jsonSchema) ? standard.jsonSchema.input : undefined;
  const method = [converter, own.toJSONSchema, own.toJsonSchema].find(
    (candidate): candidate is Describe => typeof candidate === 'function',
  );
  if (method === undefined && vendor === 'valibot') return describeValibot(schema);
  if (method === undefined && isZod3(schema)) return describeZod3(schema);
  if (method === undefined) {
    throw new LLMInvalidRequestError(
      `this ${vendor} schema cannot describe itself as JSON Schema: give one with '~standard.jsonSchema' (${vendor}'s own converter to Standard JSON Schema makes it)`,
      { path: 'schema' },
    );
  }
  let described: unknown;
  try {
    described = method.call(method === converter ? standard.jsonSchema : schema, {
      target: 'draft-2020-12',
      io: 'input',
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LLMInvalidRequestError(`This ${vendor} schema cannot be converted to JSON Schema: ${reason}`, {
      path: 'schema',
      cause: error,
    });
  }
  if (!isObject(described))
    throw new LLMInvalidRequestError(`This ${vendor} schema returned no JSON Schema object.`, { path: 'schema' });
  return described;
}

async function validateStandard<Output>(schema: StandardSchema<Output>, value: unknown): Promise<Validated<Output>> {
  const result = await resultOf(schema, value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return {
    ok: false,
    violations: result.issues.map(({ message, path = [] }) => ({
      path: path.reduce<string>((text, part) => text + pathStep(typeof part === 'object' ? part.key : part), '$'),
      message,
    })),
  };
}

/**
 * Parses a zod schema asynchronously from the start. Its `~standard.validate` first parses synchronously and drops the
 * promises of refinements, so each runs twice, and one that rejects ends the process:
 * https://github.com/colinhacks/zod/blob/main/packages/zod/src/v4/core/schemas.ts
 */
async function resultOf<Output>(schema: StandardSchema<Output>, value: unknown): Promise<StandardResult<Output>> {
  if (!isZod(schema)) return schema['~standard'].validate(value);
  const parsed = await schema.safeParseAsync(value);
  return parsed.success ? { value: parsed.data } : parsed.error;
}

interface ZodSchema<Output> {
  safeParseAsync(
    value: unknown,
  ): Promise<
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: Exclude<StandardResult<Output>, { readonly value: Output }> }
  >;
}

function isZod<Output>(schema: StandardSchema<Output>): schema is StandardSchema<Output> & ZodSchema<Output> {
  return (
    schema['~standard'].vendor === 'zod' && 'safeParseAsync' in schema && typeof schema.safeParseAsync === 'function'
  );
}
