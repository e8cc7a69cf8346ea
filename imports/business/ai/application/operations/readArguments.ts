/** Reads the parts of untrusted arguments that schemas do not express. */
import * as v from 'valibot';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { FunctionTool } from '../../domain/entities/Tool';
import { isList, isObject } from '../../domain/util/json';
import { COMPACTION_STRATEGIES } from '../../domain/types/Compaction';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { requireIds } from '../usecases/requireIds';
import type { RequestedCompaction } from '../usecases/RunLauncher';
import {
  integer,
  invalid,
  json,
  listOf,
  numberBetween,
  oneOf,
  optional,
  readObject,
  required,
  text,
} from '../../domain/util/arguments';
import { INPUT_LIMITS } from './readInput';
import { toolNameSchema } from './toolNameSchema';

/** Maximum lengths: characters of strings and of JSON, entries of lists. */
export const ARGUMENT_LIMITS = {
  id: 128,
  callId: 256,
  model: 256,
  effort: 32,
  instructions: 100_000,
  schema: 256_000,
  tools: 128,
  output: 1_000_000,
  /** Texts of one request for embeddings. */
  texts: 2_048,
  taskType: 64,
  reason: 2_000,
} as const;

export function embeddedTexts(value: unknown, path: string): string | readonly string[] {
  const read = text(INPUT_LIMITS.text);
  if (typeof value === 'string') return read(value, path);
  if (!isList(value) || value.length === 0) throw invalid(path, 'must be a text or a list of texts');
  const texts = listOf(ARGUMENT_LIMITS.texts, read)(value, path);
  if (texts.reduce((sum, each) => sum + each.length, 0) > INPUT_LIMITS.text)
    throw invalid(path, `must have no more than ${INPUT_LIMITS.text} characters`);
  return texts;
}

/** True, false, or `{ strategy?, threshold?, window? }`. */
export function requestedCompaction(value: unknown, path: string): RequestedCompaction {
  if (typeof value === 'boolean') return value;
  const fields = readObject(value, ['strategy', 'threshold', 'window'], path);
  return {
    ...optional(fields, 'strategy', oneOf(COMPACTION_STRATEGIES)),
    ...optional(fields, 'threshold', numberBetween(0.1, 1)),
    ...optional(fields, 'window', integer(1, Number.MAX_SAFE_INTEGER)),
  };
}

/**
 * Converts the positional form `(providerId, input[, schema | tools], options)` to one object. Tools may be left out.
 * @throws LLMInvalidRequestError if the request's id or its provider is missing
 */
export function asOneRequest(args: readonly unknown[], extra?: 'schema' | 'tools'): unknown {
  const request = toRequest(args, extra);
  if (isObject(request)) requireIds(request);
  return request;
}

function toRequest(args: readonly unknown[], extra: 'schema' | 'tools' | undefined): unknown {
  const [providerId, input, ...rest] = args;
  // DDP sends an `undefined` that other arguments follow as null.
  if (isObject(providerId) || (args.length < 2 && typeof providerId !== 'string')) return single(args);
  const hasExtra = extra === 'schema' || (extra === 'tools' && !(rest.length === 1 && isObject(rest[0])));
  const extraValue = hasExtra ? rest.shift() : undefined;
  const [options, ...surplus] = rest;
  if (surplus.length > 0) throw new LLMInvalidRequestError('Too many arguments.', { path: '' });
  const named = readObject(options ?? {}, [
    'requestId',
    'model',
    'instructions',
    'temperature',
    'maxOutputTokens',
    'reasoning',
    'recall',
    'tags',
    'metadata',
    'maxIterations',
    'durability',
  ]);
  const request = { ...named, providerId, input };
  return extra === undefined
    ? request
    : { ...request, [extra]: extra === 'tools' ? toolNames(extraValue) : extraValue };
}

function single(args: readonly unknown[]): unknown {
  if (args.length > 1) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
  return args[0] ?? {};
}

/** `{ name, description?, parameters? }` */
export function clientTool(value: unknown, path: string): FunctionTool {
  const fields = readObject(value, ['name', 'description', 'parameters'], path);
  return {
    type: 'function',
    name: required(fields, 'name', toolName, `${path}.name`),
    ...optional(fields, 'description', text(ARGUMENT_LIMITS.instructions), `${path}.description`),
    ...optional(fields, 'parameters', jsonSchema, `${path}.parameters`),
    kind: 'external',
    untrusted: true,
  };
}

// A schema from outside can only be JSON. Whether it is a valid JSON Schema is decided when it is compiled.
export function jsonSchema(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be a JSON Schema object');
  return json(ARGUMENT_LIMITS.schema)(value, path) as JsonObject;
}

export function toolName(value: unknown, path: string): string {
  const { issues, output } = v.safeParse(toolNameSchema, value);
  if (issues === undefined) return output;
  throw invalid(path, issues[0].message);
}

/**
 * Reduces tool definitions to their names: what a client describes is never executed. DDP sends an `undefined` between
 * arguments as null.
 */
function toolNames(tools: unknown): unknown {
  if (!isList(tools)) return tools ?? undefined;
  return tools.map((tool) => {
    if (!isObject(tool)) return tool;
    return isObject(tool.function) ? tool.function.name : tool.name;
  });
}
