/** Takes the schemas that the AI SDK accepts: zod, Standard Schemas, `jsonSchema()`, and functions that return one. */
import type { FlexibleSchema, Schema } from 'ai';
import { isObject } from '../../../business/ai/domain/util/json';
import type { StandardResult } from '../../../business/ai/domain/types/Schemas';
import { unsupportedFunctionality } from '../model/aiSdkErrors';

/** Marks the schemas of the AI SDK (`schemaSymbol` in `@ai-sdk/provider-utils`). */
export const AI_SCHEMA = Symbol.for('vercel.ai.schema');

/**
 * A schema that Bolide accepts. Its own validation applies as well.
 * @throws UnsupportedFunctionalityError for a JSON Schema that is a promise
 */
export function fromAISDKSchema(schema: FlexibleSchema, toolName: string): unknown {
  // arktype's schemas are functions, and so are lazy ones.
  const resolved = typeof schema === 'function' && !('~standard' in schema) ? schema() : schema;
  return isAISchema(resolved) ? fromSchema(resolved, toolName) : resolved;
}

function fromSchema(schema: Schema, toolName: string): unknown {
  const { jsonSchema, validate } = schema;
  if (jsonSchema instanceof Promise || 'then' in jsonSchema)
    throw unsupportedFunctionality(
      `input schema of "${toolName}" that is a promise`,
      `The JSON Schema of the tool "${toolName}" is a promise. Await it, and pass the result to "jsonSchema".`,
    );
  if (validate === undefined) return jsonSchema;
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      jsonSchema: { input: () => jsonSchema },
      validate: async (value: unknown): Promise<StandardResult<unknown>> => {
        const result = await validate(value);
        return result.success ? { value: result.value } : { issues: issuesOf(result.error) };
      },
    },
  };
}

type Issues = NonNullable<StandardResult<unknown>['issues']>;

/** zod's error lists its issues; other validators have a message alone. */
function issuesOf(error: Error): Issues {
  const { cause } = error;
  const { issues } = (isObject(cause) ? cause : error) as { readonly issues?: unknown };
  return Array.isArray(issues) ? (issues as Issues) : [{ message: error.message }];
}

function isAISchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && AI_SCHEMA in value;
}
