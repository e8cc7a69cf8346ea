/** What is written down of a run, in the words of the loop: enough for any process to go on with it. */
import type { RunState } from '../entities/Run';
import type { Tool } from '../entities/Tool';
import type { ErrorCode } from '../errors/LLMErrors';
import type { Actor } from './Actor';
import type { NormalizedOptions } from './LLMTypes';
import type { Item, LLMResponse, Usage } from './ResponsesAPITypes';

/**
 * What a run may spend; the call that would pass it is not made. `money` in US dollars, by the model's listed
 * price.
 */
export interface Budget {
  readonly calls?: number;
  readonly tokens?: number;
  readonly money?: number;
}

export interface RunLimits {
  /** LLM calls. */
  readonly maxIterations: number;
  /** Consecutive turns of nothing but failed calls. */
  readonly maxToolErrors: number;
  readonly maxParallelTools: number;
  /** Milliseconds, without the time that people and other services take. */
  readonly runTimeout: number;
  readonly budget?: Budget;
}

/** What the run was asked to do, without its input; as JSON it says the same. */
export interface RunPlan {
  readonly options: Omit<NormalizedOptions, 'input' | 'tools' | 'signal'>;
  /** By name where the executor has them. */
  readonly tools: readonly (string | Tool)[];
  readonly limits: RunLimits;
  readonly stream: boolean;
}

/** Who asked for a run, and for what: the part that never changes. */
export interface RunRequest {
  readonly executionId: string;
  readonly userId: string;
  /** Made by the client, unique for its user; the execution id where there was no client. */
  readonly requestId: string;
  /** What the request asked for, to tell it from another under the same id. */
  readonly argumentsHash: string;
  readonly source: Actor['source'];
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  /** The beginning of what was asked. */
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** When a queued run is to be begun, in milliseconds since the epoch; absent: at once. */
  readonly dueAt?: number;
  readonly input: readonly Item[];
  readonly plan: RunPlan;
}

/** How far it has come: the part that moves. */
export interface RunProgress {
  readonly state: RunState;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** LLM calls that were begun. */
  readonly iterations: number;
  /** One of them has no outcome yet. */
  readonly isCalling: boolean;
  readonly usage: Usage;
  /** US dollars, where the model's price is known. */
  readonly cost?: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The whole conversation, input first. */
  readonly transcript: readonly Item[];
  /** Where in the transcript the last response begins. */
  readonly turnStart: number;
  /** The last one; a finished run's answer. */
  readonly response?: LLMResponse;
  readonly failedTurns: number;
  /** Milliseconds that its deadline has counted. */
  readonly worked: number;
  /** Of its last event. */
  readonly seq: number;
  /** How often it was taken over from an owner that was gone, since it last got on. */
  readonly takeovers: number;
}

/** The right to write to a run. Each new owner has a higher fence, and with an older one nothing can be written. */
export interface RunLease {
  readonly executionId: string;
  readonly userId: string;
  readonly owner: string;
  readonly fence: number;
}

/** A run as watchers see it. */
export interface HeldRun extends RunLease, Pick<RunProgress, 'takeovers'> {}

/**
 * Why a run is claimed: somebody wants it (`asked`); its owner is gone (`lost`), which is counted in `takeovers`
 * with the same write; or it is only to be ended (`end`): then what was said in it is not read, and its input,
 * transcript and response come back empty.
 */
export type ClaimReason = 'asked' | 'lost' | 'end';

export interface StoredRun extends RunRequest, RunProgress {
  /** Empty for a run that waits for a worker. */
  readonly owner: string;
  readonly fence: number;
}

/** Something that is to be done to a run by its owner. */
export type RunOrder =
  | { readonly kind: 'cancel' }
  | { readonly kind: 'approve'; readonly callId: string }
  | { readonly kind: 'reject'; readonly callId: string; readonly reason: string }
  | {
      readonly kind: 'submit';
      readonly callId: string;
      readonly result: { readonly output: unknown } | { readonly error: string };
    };

export interface RunCommand {
  /** One for everything that settles the same wait, so that the first wins. */
  readonly id: string;
  readonly executionId: string;
  readonly order: RunOrder;
}
