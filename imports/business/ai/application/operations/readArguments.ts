/** The arguments of the methods, exactly: what each takes, of which type and size. Nothing else gets past here. */
import { randomUUID } from 'node:crypto';
import { isList, isObject } from '../../domain/json';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { JsonObject } from '../../domain/types/VendorTypes';
import type { ExternalResult } from '../services/ToolProcessor';
import type { AgenticRequest } from '../usecases/AgenticExecutionUseCase';
import type { JSONRequest } from '../usecases/GenerateJSONUseCase';
import type { UseRequest } from '../usecases/RunLauncher';
import {
  readObject,
  json,
  listOf,
  numberWithin,
  optional,
  text,
  wholeNumber,
  identifier,
  invalid,
} from '../../domain/arguments';

/** Characters, or entries of lists. */
export const ARGUMENT_LIMITS = {
  id: 128,
  callId: 256,
  model: 256,
  input: 4_000_000,
  instructions: 100_000,
  schema: 256_000,
  tools: 128,
  output: 1_000_000,
  reason: 2_000,
} as const;

const COMMON = ['requestId', 'providerId', 'input', 'model', 'instructions', 'temperature', 'maxOutputTokens'] as const;

/** `{ requestId, providerId, input, … }`, or `(providerId, input, options?)`. */
export function readTextRequest(args: readonly unknown[]): UseRequest {
  return commonOf(readObject(asOne(args, []), COMMON));
}

/** The same and `schema`; or `(providerId, input, schema, options?)`. */
export function readJSONRequest(args: readonly unknown[]): JSONRequest {
  const fields = readObject(asOne(args, ['schema']), [...COMMON, 'schema']);
  if (!isObject(fields.schema)) throw invalid('schema', 'schema must be a JSON Schema');
  // What was sent as JSON is a JSON Schema or refused when it is compiled; no other kind of schema can come from
  // outside.
  return { ...commonOf(fields), schema: json(ARGUMENT_LIMITS.schema)(fields.schema, 'schema') as JsonObject };
}

/** The same as for text, `tools` by name and `maxIterations?`; or `(providerId, input, tools, options?)`. */
export function readToolsRequest(args: readonly unknown[]): AgenticRequest {
  const fields = readObject(asOne(args, ['tools']), [...COMMON, 'tools', 'maxIterations']);
  return {
    ...commonOf(fields),
    tools: fields.tools === undefined ? [] : listOf(ARGUMENT_LIMITS.tools, toolName)(fields.tools, 'tools'),
    ...optional(fields, 'maxIterations', wholeNumber(1, 100)),
  };
}

export interface NamedRun {
  readonly executionId: string;
}

export function readNamedRun(args: readonly unknown[]): NamedRun {
  return { executionId: executionIdOf(readObject(single(args), ['executionId'])) };
}

export interface Decision extends NamedRun {
  readonly callId: string;
  /** Of the arguments that were shown. */
  readonly argumentsHash: string;
  readonly reason?: string;
}

export function readDecision(args: readonly unknown[]): Decision {
  const fields = readObject(single(args), ['executionId', 'callId', 'argumentsHash', 'reason']);
  const { argumentsHash } = fields;
  if (typeof argumentsHash !== 'string' || !/^[0-9a-f]{64}$/.test(argumentsHash))
    throw invalid(
      'argumentsHash',
      'argumentsHash must be the SHA-256 of the arguments that were shown, in hexadecimal',
    );
  return {
    executionId: executionIdOf(fields),
    callId: callIdOf(fields),
    argumentsHash,
    ...optional(fields, 'reason', text(ARGUMENT_LIMITS.reason)),
  };
}

export interface SubmittedResult extends NamedRun {
  readonly callId: string;
  readonly result: ExternalResult;
}

export function readSubmittedResult(args: readonly unknown[]): SubmittedResult {
  const fields = readObject(single(args), ['executionId', 'callId', 'output', 'error']);
  const named = { executionId: executionIdOf(fields), callId: callIdOf(fields) };
  const { output, error } = fields;
  if ((output === undefined) === (error === undefined))
    throw invalid('output', 'there must be an output or an error, and not both');
  if (error !== undefined) return { ...named, result: { error: text(ARGUMENT_LIMITS.reason)(error, 'error') } };
  return { ...named, result: { output: json(ARGUMENT_LIMITS.output)(output, 'output') } };
}

/** The positional form as one object: provider, input, what the method has besides, options. */
function asOne(args: readonly unknown[], besides: readonly ('schema' | 'tools')[]): unknown {
  const [providerId, input, ...rest] = args;
  if (typeof providerId !== 'string') return single(args);
  const [besideName] = besides;
  const given = besideName === undefined ? {} : { [besideName]: besideName === 'tools' ? namesOf(rest[0]) : rest[0] };
  const [options, ...tooMany] = rest.slice(besides.length);
  if (tooMany.length > 0) throw invalid('', 'there are too many arguments');
  const named = readObject(options ?? {}, [
    'requestId',
    'model',
    'instructions',
    'temperature',
    'maxOutputTokens',
    'maxIterations',
  ]);
  // Who names no request can't mean an earlier one.
  return { requestId: randomUUID(), ...named, providerId, input, ...given };
}

function single(args: readonly unknown[]): unknown {
  if (args.length > 1) throw invalid('', 'there must be one argument, an object');
  return args[0];
}

function commonOf(fields: JsonObject): UseRequest {
  return {
    requestId: identifier(ARGUMENT_LIMITS.id)(fields.requestId, 'requestId'),
    providerId: identifier(ARGUMENT_LIMITS.id)(fields.providerId, 'providerId'),
    input: inputOf(fields.input),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model)),
    ...optional(fields, 'instructions', text(ARGUMENT_LIMITS.instructions)),
    ...optional(fields, 'temperature', numberWithin(0, 2)),
    ...optional(fields, 'maxOutputTokens', wholeNumber(1, 1_000_000)),
  };
}

/** Its items are read by the normaliser, which says where they are wrong. */
function inputOf(value: unknown): LLMInput {
  if (typeof value === 'string') return text(ARGUMENT_LIMITS.input)(value, 'input');
  if (!isList(value)) throw invalid('input', 'input must be a text or a list of messages');
  return json(ARGUMENT_LIMITS.input)(value, 'input') as LLMInput;
}

function executionIdOf(fields: JsonObject): string {
  return identifier(ARGUMENT_LIMITS.id)(fields.executionId, 'executionId');
}

function callIdOf(fields: JsonObject): string {
  return identifier(ARGUMENT_LIMITS.callId)(fields.callId, 'callId');
}

function toolName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value)) return value;
  throw invalid(path, `${path} must be the name of a tool`);
}

/**
 * Of a definition only the name counts: what a client describes is never run. DDP carries `undefined` between
 * arguments as null.
 */
function namesOf(tools: unknown): unknown {
  if (!isList(tools)) return tools ?? undefined;
  return tools.map((tool) => {
    if (!isObject(tool)) return tool;
    return isObject(tool.function) ? tool.function.name : tool.name;
  });
}
