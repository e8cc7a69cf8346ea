/** Reads a request of a user's batch. */
import { identifier, integer, numberBetween, optional, readObject, text } from '../../ai/domain/util/arguments';
import type { UserBatchRequest } from '../domain/UserBatch';
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { ARGUMENT_LIMITS, jsonSchema } from '../../ai/application/operations/readArguments';
import { readInput } from '../../ai/application/operations/readInput';

const FIELDS = [
  'input',
  'inputData',
  'conversation_history',
  'model',
  'instructions',
  'temperature',
  'maxOutputTokens',
  'reasoning',
  'schema',
] as const;

/** @throws LLMInvalidRequestError */
export function readBatchRequest(value: unknown, path: string): UserBatchRequest {
  const fields = readObject(value, FIELDS, path);
  return {
    input: under(path, () => readInput(fields)),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model), `${path}.model`),
    ...optional(fields, 'instructions', text(ARGUMENT_LIMITS.instructions), `${path}.instructions`),
    ...optional(fields, 'temperature', numberBetween(0, 2), `${path}.temperature`),
    ...optional(fields, 'maxOutputTokens', integer(1, 1_000_000), `${path}.maxOutputTokens`),
    ...optional(fields, 'reasoning', identifier(ARGUMENT_LIMITS.effort), `${path}.reasoning`),
    ...optional(fields, 'schema', jsonSchema, `${path}.schema`),
  };
}

/** Names the request in the error of its input. */
export function under<T>(path: string, readField: () => T): T {
  try {
    return readField();
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    throw new LLMInvalidRequestError(`${path}: ${error.message}`, {
      path: `${path}.${error.path ?? 'input'}`,
      cause: error,
    });
  }
}
