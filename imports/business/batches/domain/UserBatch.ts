/** A batch of requests that the server has answered for a user, in the batches of a vendor. */
import type { ErrorCode } from '../../ai/domain/errors/LLMErrors';
import type { LLMInput, ReasoningEffort } from '../../ai/domain/types/LLMTypes';
import type { CallOrigin } from '../../ai/domain/types/RequestRecords';
import type { Usage } from '../../ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

/** `failed`: as a whole. In a `completed` one, each request has its result or its error. */
export type UserBatchState = 'running' | 'cancelling' | 'completed' | 'cancelled' | 'failed';

export interface UserBatchCounts {
  readonly total: number;
  /** 0 until the end. */
  readonly succeeded: number;
  readonly failed: number;
}

export interface UserBatch {
  /** Random. `batchId` is the client's own, and unique for a user only. */
  readonly id: string;
  readonly userId: string;
  readonly batchId: string;
  readonly providerId: string;
  readonly origin: CallOrigin;
  readonly state: UserBatchState;
  readonly counts: UserBatchCounts;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly endedAt?: number;
  /** Why it failed as a whole. */
  readonly error?: BatchError;
}

export interface UserBatchRequest {
  readonly input: LLMInput;
  /** Default: the provider's. */
  readonly model?: string;
  readonly instructions?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly reasoning?: ReasoningEffort;
  /** JSON Schema of the value. Without one, the value is the response's text. */
  readonly schema?: JsonObject;
}

export interface BatchError {
  readonly code: ErrorCode;
  readonly message: string;
}

export type UserBatchResult =
  | {
      readonly value: unknown;
      readonly model: string;
      readonly usage: Usage;
      /** US dollars, if the price is known. */
      readonly cost?: number;
    }
  | { readonly error: BatchError };

export function isEnded({ state }: Pick<UserBatch, 'state'>): boolean {
  return state !== 'running' && state !== 'cancelling';
}
