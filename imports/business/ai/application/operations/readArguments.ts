/** Reads the untrusted arguments of every operation: exactly these fields, of these types and sizes. */
import { randomUUID } from 'node:crypto';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { FunctionTool } from '../../domain/entities/Tool';
import { isList, isObject } from '../../domain/json';
import { COMPACTION_STRATEGIES } from '../../domain/types/Compaction';
import { RUN_DURABILITIES } from '../../domain/types/RunRecords';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { MAX_SIGNAL_BYTES } from '../services/signals/readSignal';
import type { ExternalResult } from '../services/tools/decisions';
import { MAX_SIGNAL_NAME } from '../services/tools/signalWait';
import type { AgenticRequest } from '../usecases/AgenticExecutionUseCase';
import type { EmbedRequest } from '../usecases/EmbedUseCase';
import type { JSONRequest } from '../usecases/GenerateJSONUseCase';
import type { RunFork } from '../usecases/conversationBefore';
import type { RequestedCompaction, UseRequest } from '../usecases/RunLauncher';
import {
  boolean,
  identifier,
  integer,
  invalid,
  json,
  line,
  listOf,
  numberBetween,
  oneOf,
  optional,
  readObject,
  required,
  text,
} from '../../domain/arguments';
import { INPUT_LIMITS, readInput } from './readInput';
import { metadataFields, tagList } from './readRunLabels';

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

const COMMON = [
  'requestId',
  'providerId',
  'input',
  'inputData',
  'conversation_history',
  'model',
  'instructions',
  'temperature',
  'maxOutputTokens',
  'reasoning',
  'recall',
  'tags',
  'metadata',
] as const;

const CONVERSATION = ['conversationId', 'continues', 'repeats', 'forkOf', 'startedFrom'] as const;

/** `{ requestId, providerId, input, … }`, or `(providerId, input, options?)`. */
export function readTextRequest(args: readonly unknown[]): UseRequest {
  return commonOf(readObject(asOne(args), COMMON));
}

/** The fields of `readTextRequest` and `schema`, or `(providerId, input, schema, options?)`. */
export function readJSONRequest(args: readonly unknown[]): JSONRequest {
  const fields = readObject(asOne(args, 'schema'), [...COMMON, 'schema']);
  return { ...commonOf(fields), schema: jsonSchema(fields.schema, 'schema') };
}

/** `{ providerId, input, model?, dimensions?, taskType? }`, where `input` is a text or a list of texts. */
export function readEmbedRequest(args: readonly unknown[]): EmbedRequest {
  const fields = readObject(single(args), ['providerId', 'input', 'model', 'dimensions', 'taskType']);
  return {
    providerId: required(fields, 'providerId', identifier(ARGUMENT_LIMITS.id)),
    input: required(fields, 'input', embeddedTexts),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model)),
    ...optional(fields, 'dimensions', integer(1, 1_000_000)),
    ...optional(fields, 'taskType', identifier(ARGUMENT_LIMITS.taskType)),
  };
}

function embeddedTexts(value: unknown, path: string): string | readonly string[] {
  const read = text(INPUT_LIMITS.text);
  if (typeof value === 'string') return read(value, path);
  if (!isList(value) || value.length === 0) throw invalid(path, 'must be a text or a list of texts');
  const texts = listOf(ARGUMENT_LIMITS.texts, read)(value, path);
  if (texts.reduce((sum, each) => sum + each.length, 0) > INPUT_LIMITS.text)
    throw invalid(path, `must have no more than ${INPUT_LIMITS.text} characters`);
  return texts;
}

/**
 * The fields of `readTextRequest`, `tools` by name, `schema?` of the answer, `maxIterations?`, `durability?`,
 * `compaction?`, `conversationId?`, and one of `continues?`, `repeats?`, `forkOf?` and `startedFrom?`; or
 * `(providerId, input, tools, options?)`.
 */
export function readToolsRequest(args: readonly unknown[]): AgenticRequest {
  const fields = readObject(asOne(args, 'tools'), [
    ...COMMON,
    ...CONVERSATION,
    'tools',
    'clientTools',
    'schema',
    'maxIterations',
    'durability',
    'compaction',
  ]);
  if (fields.repeats !== undefined) assertOnlyRepeats(fields);
  if (fields.forkOf !== undefined && fields.continues !== undefined)
    throw invalid('continues', 'must not be given in addition to "forkOf"');
  if (fields.startedFrom !== undefined) assertNoOtherRun(fields);
  const needsNoInput = fields.repeats !== undefined || (fields.forkOf !== undefined && !hasInput(fields));
  return {
    ...commonOf(needsNoInput ? { ...fields, input: [] } : fields),
    tools: fields.tools === undefined ? [] : listOf(ARGUMENT_LIMITS.tools, toolName)(fields.tools, 'tools'),
    ...optional(fields, 'clientTools', listOf(ARGUMENT_LIMITS.tools, clientTool)),
    ...optional(fields, 'schema', jsonSchema),
    ...optional(fields, 'maxIterations', integer(1, 100)),
    ...optional(fields, 'durability', oneOf(RUN_DURABILITIES)),
    ...optional(fields, 'compaction', requestedCompaction),
    ...optional(fields, 'conversationId', identifier(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'continues', identifier(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'repeats', identifier(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'forkOf', forkPoint),
    ...optional(fields, 'startedFrom', identifier(ARGUMENT_LIMITS.id)),
  };
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

function hasInput({ input, inputData, conversation_history: history }: JsonObject): boolean {
  return [input, inputData, history].some((value) => value !== undefined);
}

/** `{ executionId, turn }` */
function forkPoint(value: unknown, path: string): RunFork {
  const fields = readObject(value, ['executionId', 'turn'], path);
  return {
    executionId: required(fields, 'executionId', identifier(ARGUMENT_LIMITS.id), `${path}.executionId`),
    turn: required(fields, 'turn', integer(1, 100_000), `${path}.turn`),
  };
}

/** A repeated run has the input of the first. */
function assertOnlyRepeats(fields: JsonObject): void {
  const other = ['input', 'inputData', 'conversation_history', 'continues', 'forkOf'].find(
    (name) => fields[name] !== undefined,
  );
  if (other !== undefined) throw invalid(other, 'must not be given in addition to "repeats"');
}

/** A run that is started anew gives the new one nothing. */
function assertNoOtherRun(fields: JsonObject): void {
  const other = (['continues', 'repeats', 'forkOf'] as const).find((name) => fields[name] !== undefined);
  if (other !== undefined) throw invalid('startedFrom', `must not be given in addition to "${other}"`);
}

export interface NamedRun {
  readonly executionId: string;
}

export function readNamedRun(args: readonly unknown[]): NamedRun {
  return { executionId: executionIdOf(readObject(single(args), ['executionId'])) };
}

export interface Decision extends NamedRun {
  readonly callId: string;
  /** SHA-256 (hexadecimal) of the arguments that the person saw. */
  readonly argumentsHash: string;
  /** When the attempt began that an approval lets run again, for a call under review. */
  readonly startTime?: number;
  readonly reason?: string;
}

export function readDecision(args: readonly unknown[]): Decision {
  const fields = readObject(single(args), ['executionId', 'callId', 'argumentsHash', 'startTime', 'reason']);
  const { argumentsHash } = fields;
  if (typeof argumentsHash !== 'string' || !/^[0-9a-f]{64}$/.test(argumentsHash))
    throw invalid('argumentsHash', 'must be the SHA-256 of the arguments that were shown, in lower-case hexadecimal');
  return {
    executionId: executionIdOf(fields),
    callId: callIdOf(fields),
    argumentsHash,
    ...optional(fields, 'startTime', integer(0, Number.MAX_SAFE_INTEGER)),
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
    throw new LLMInvalidRequestError('Pass either "output" or "error".', { path: 'output' });
  if (error !== undefined) return { ...named, result: { error: text(ARGUMENT_LIMITS.reason)(error, 'error') } };
  return { ...named, result: { output: json(ARGUMENT_LIMITS.output)(output, 'output') } };
}

export interface NamedSignal {
  readonly executionId: string;
  readonly name: string;
  readonly payload: unknown;
  readonly signalId: string | undefined;
}

/** `{ executionId, name, payload?, signalId? }` */
export function readSentSignal(args: readonly unknown[]): NamedSignal {
  const fields = readObject(single(args), ['executionId', 'name', 'payload', 'signalId']);
  const { signalId, payload } = fields;
  return {
    executionId: executionIdOf(fields),
    name: required(fields, 'name', line(MAX_SIGNAL_NAME)),
    payload: payload === undefined ? undefined : json(MAX_SIGNAL_BYTES)(payload, 'payload'),
    signalId: signalId === undefined ? undefined : identifier(ARGUMENT_LIMITS.id)(signalId, 'signalId'),
  };
}

/** Converts the positional form `(providerId, input[, schema | tools], options?)` to one object. */
function asOne(args: readonly unknown[], extra?: 'schema' | 'tools'): unknown {
  const [providerId, input, ...rest] = args;
  if (typeof providerId !== 'string') return single(args);
  const extraValue = extra === undefined ? undefined : rest.shift();
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
  // Without a request id, the call can't be a repetition of an earlier one.
  const request = { requestId: randomUUID(), ...named, providerId, input };
  return extra === undefined
    ? request
    : { ...request, [extra]: extra === 'tools' ? toolNames(extraValue) : extraValue };
}

function single(args: readonly unknown[]): unknown {
  if (args.length > 1) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
  return args[0];
}

function commonOf(fields: JsonObject): UseRequest {
  return {
    requestId: identifier(ARGUMENT_LIMITS.id)(fields.requestId, 'requestId'),
    providerId: identifier(ARGUMENT_LIMITS.id)(fields.providerId, 'providerId'),
    input: readInput(fields),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model)),
    ...optional(fields, 'instructions', text(ARGUMENT_LIMITS.instructions)),
    ...optional(fields, 'temperature', numberBetween(0, 2)),
    ...optional(fields, 'maxOutputTokens', integer(1, 1_000_000)),
    ...optional(fields, 'reasoning', identifier(ARGUMENT_LIMITS.effort)),
    ...optional(fields, 'recall', boolean),
    ...optional(fields, 'tags', tagList),
    ...optional(fields, 'metadata', metadataFields),
  };
}

function executionIdOf(fields: JsonObject): string {
  return identifier(ARGUMENT_LIMITS.id)(fields.executionId, 'executionId');
}

function callIdOf(fields: JsonObject): string {
  return identifier(ARGUMENT_LIMITS.callId)(fields.callId, 'callId');
}

/** `{ name, description?, parameters? }` */
function clientTool(value: unknown, path: string): FunctionTool {
  const fields = readObject(value, ['name', 'description', 'parameters'], path);
  return {
    type: 'function',
    name: required(fields, 'name', toolName, `${path}.name`),
    ...optional(fields, 'description', text(ARGUMENT_LIMITS.instructions), `${path}.description`),
    ...optional(fields, 'parameters', jsonSchema, `${path}.parameters`),
    external: true,
    untrusted: true,
  };
}

// A schema from outside can only be JSON. Whether it is a valid JSON Schema is decided when it is compiled.
export function jsonSchema(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be a JSON Schema object');
  return json(ARGUMENT_LIMITS.schema)(value, path) as JsonObject;
}

export function toolName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value)) return value;
  throw invalid(path, 'must be the name of a tool: 1 to 64 letters, digits, "_" and "-"');
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
