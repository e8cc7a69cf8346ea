/** What is written down of every request that was let in: before it begins, and once when it has ended. */
import type { RunState } from '../entities/Run';
import type { ErrorCode } from '../errors/LLMErrors';
import type { Actor } from '../types/Actor';
import type { Usage } from '../types/ResponsesAPITypes';

export interface RunRecord {
  readonly executionId: string;
  readonly userId: string;
  /** Made by the client, unique for its user. */
  readonly requestId: string;
  readonly source: Actor['source'];
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  /** The beginning of what was asked. */
  readonly title: string;
  readonly state: RunState;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly outcome?: RunOutcome;
}

export interface RunOutcome {
  readonly state: 'completed' | 'failed' | 'cancelled';
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Model calls. */
  readonly iterations: number;
  readonly usage: Usage;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

export interface RequestRecords {
  /** @throws ConflictError when the execution id is taken */
  create(run: RunRecord): Promise<void>;
  /** Ends a run; one that has ended stays as it is. */
  finish(executionId: string, outcome: RunOutcome): Promise<void>;
  /** A user's run is unknown to every other user. */
  find(userId: string, executionId: string): Promise<RunRecord | undefined>;
}
