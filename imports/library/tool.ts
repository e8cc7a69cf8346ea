/** Defines a tool whose function is typed by its schema. */
import { boolean, invalid, oneOf, readObject, text } from '../business/ai/domain/util/arguments';
import type { ArgumentReader } from '../business/ai/domain/util/arguments';
import { needsFunction, TOOL_KINDS, withKind } from '../business/ai/domain/entities/Tool';
import { TOOL_SETTINGS } from '../business/ai/domain/entities/toolSettings';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../business/ai/domain/util/json';
import type { SchemaInput } from '../business/ai/domain/types/Schemas';
import { toJsonSchema } from '../business/ai/application/services/schema/toJsonSchema';
import { assertSchema } from '../business/ai/application/services/schema/checkSchema';
import type { RegisteredTool, ToolDefinition } from '../business/ai/infrastructure/tools/ToolRegistry';

/** The arguments that a tool's function receives. */
export type ToolArguments<T extends RegisteredTool> =
  NonNullable<T['execute']> extends (args: infer A, ...rest: never) => unknown ? A : never;

/** What a tool's function returns or resolves to. */
export type ToolOutput<T extends RegisteredTool> = Awaited<ReturnType<NonNullable<T['execute']>>>;

/**
 * The arguments of `execute`, and of a `needsApproval` function, are inferred from `parameters`: zod, valibot or any
 * other Standard Schema, a JSON Schema literal, or a SimpleSchema with a type (see `typed`). Without parameters
 * there are no arguments.
 * @returns the definition itself, for agents, servers and `ToolRegistry`
 * @throws LLMInvalidRequestError, whose `path` names the invalid field
 */
export function tool<const Schema extends SchemaInput | undefined = undefined, Result = unknown>(
  definition: ToolDefinition<Schema, Result>,
): ToolDefinition<Schema, Result> {
  checkTool(definition, '');
  return definition;
}

/** @param path of the tool in its caller's argument; '' for the argument itself @throws LLMInvalidRequestError */
export function checkTool(given: unknown, path: string): asserts given is RegisteredTool {
  const fields = readObject(given, Object.keys(FIELDS), path);
  const prefix = path === '' ? '' : `${path}.`;
  if (fields.name === undefined) throw invalid(`${prefix}name`, 'is required');
  for (const [name, read] of Object.entries<ArgumentReader<unknown>>(FIELDS))
    if (fields[name] !== undefined) read(fields[name], prefix + name);
  if (fields.execute === undefined && needsFunction(withKind(fields)))
    throw invalid(`${prefix}execute`, 'is required, unless "kind" is "external"');
}

const FIELDS = {
  name: toolName,
  description: text(65_536),
  parameters: checkSchema,
  execute: aFunction,
  hosted: aFunction,
  handoff: anObject,
  ...TOOL_SETTINGS,
  kind: oneOf(Object.keys(TOOL_KINDS)),
  external: boolean,
  readOnly: boolean,
  untrusted: boolean,
  strict: boolean,
  allowed_callers: (value, path) => {
    if (!isList(value) || !value.every((caller) => caller === 'direct' || caller === 'programmatic'))
      throw invalid(path, 'must be a list of "direct" and "programmatic"');
  },
  output_schema: checkSchema,
  native: anObject,
  vendor: anObject,
} as const satisfies Record<keyof RegisteredTool, ArgumentReader<unknown>>;

function toolName(value: unknown, path: string): void {
  if (typeof value !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(value))
    throw invalid(path, 'must be 1 to 64 characters of a-z, A-Z, 0-9, _ and -');
}

function aFunction(value: unknown, path: string): void {
  if (typeof value !== 'function') throw invalid(path, 'must be a function');
}

function anObject(value: unknown, path: string): void {
  if (!isObject(value)) throw invalid(path, 'must be an object');
}

/** @throws LLMInvalidRequestError for anything but a valid schema */
export function checkSchema(value: unknown, path: string): void {
  try {
    assertSchema(toJsonSchema(value).jsonSchema);
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    throw new LLMInvalidRequestError(`"${path}" is not a valid schema. ${error.message}`, { path, cause: error });
  }
}
