/** One structured question of a client's, and what becomes of it in a batch. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { GenerateOptions, LLMInput } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { AnySchema } from '../schema/AnySchema';

/** `store` and `previous_response_id` are the chain's where there is one. */
export interface LLMRequest<Schema = AnySchema | undefined> extends Omit<GenerateOptions, 'response_format'> {
  readonly input: LLMInput;
  /** SimpleSchema, JSON Schema or any Standard Schema of the value. Without one the value is the answer's text. */
  readonly schema?: Schema;
  /** `"{chain}:{entityId}"`: the chain that the request goes on with, and the entity that it is counted on. */
  readonly entityKey?: string;
  /** How many responses the chain holds afterwards; default: the client's. 0 leaves the chain as it is. */
  readonly depthOverride?: number;
}

export interface BatchSuccess<T> {
  readonly ok: true;
  readonly value: T;
  readonly response: LLMResponse;
}

/** Told apart by `isLLMError`, or by `'ok' in result`. */
export type BatchResult<T> = BatchSuccess<T> | LLMError;

export interface BatchOptions {
  /** How many requests run at once; default 8. */
  readonly concurrency?: number;
  /** Aborts what runs; what has not begun is answered with the error that the abort stands for. */
  readonly signal?: AbortSignal;
  /** Told after each request how many have been answered, well or not, of how many. */
  readonly onProgress?: (done: number, total: number) => void;
}
