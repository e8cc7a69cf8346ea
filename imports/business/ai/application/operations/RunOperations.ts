/**
 * `ai.llm.*` and `ai.runs.*` for any transport (DDP, HTTP): an actor and untrusted arguments in, the result out. All
 * arguments are validated here. Another user's run is indistinguishable from one that does not exist.
 */
import { LLMAuthError, LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { RunState } from '../../domain/entities/Run';
import { needsReview } from '../../domain/entities/Tool';
import type { Decider, ToolCallState } from '../../domain/entities/Tool';
import type { Actor } from '../../domain/types/Actor';
import type { Embeddings } from '../../domain/types/EmbeddingTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ExternalResult } from '../services/tools/decisions';
import type { AgenticExecutionUseCase } from '../usecases/AgenticExecutionUseCase';
import type { EmbedUseCase } from '../usecases/EmbedUseCase';
import type { GenerateJSONUseCase } from '../usecases/GenerateJSONUseCase';
import type { GenerateTextUseCase } from '../usecases/GenerateTextUseCase';
import {
  readDecision,
  readEmbedRequest,
  readJSONRequest,
  readNamedRun,
  readSentSignal,
  readSubmittedResult,
  readTextRequest,
  readToolsRequest,
} from './readArguments';

type Awaitable<T> = T | Promise<T>;

/** Controls running runs; the agentic loop implements it. */
export interface RunControl {
  cancel(executionId: string): Awaitable<RunState>;
  resumeParked(executionId: string): Awaitable<RunState>;
  approve(executionId: string, callId: string, argumentsHash: string, by: Decider): Awaitable<ToolCallState>;
  rerun(
    executionId: string,
    callId: string,
    startTime: number,
    argumentsHash: string,
    by: Decider,
  ): Awaitable<ToolCallState>;
  reject(
    executionId: string,
    callId: string,
    reason: string | undefined,
    argumentsHash: string,
    by: Decider,
  ): Awaitable<ToolCallState>;
  submitToolResult(
    executionId: string,
    callId: string,
    result: ExternalResult,
    by: Decider,
  ): Awaitable<'accepted' | 'already-settled'>;
  stateOfCall(executionId: string, callId: string): Awaitable<ToolCallState>;
  signal(
    executionId: string,
    name: string,
    payload: unknown,
    signalId: string | undefined,
  ): Awaitable<'accepted' | 'repeated'>;
}

/** A call after a decision, as recorded at that moment. */
export interface DecidedCall {
  readonly executionId: string;
  readonly callId: string;
  readonly state: ToolCallState;
}

export interface SubmittedCall extends DecidedCall {
  readonly result: 'accepted' | 'already-settled';
}

export interface SentSignal {
  readonly executionId: string;
  readonly name: string;
  /** `repeated`: the run was sent a signal with this id before, and nothing changed. */
  readonly result: 'accepted' | 'repeated';
}

/** Messages that wait for earlier ones of their conversation, by the ids that their runs will have. */
export interface WaitingMessages {
  /** Undefined for an unknown message, and one whose answer has ended. */
  userOf(executionId: string): Promise<string | undefined>;
  cancel(executionId: string): Promise<void>;
}

export interface AIMethodsPorts {
  readonly useCases: {
    readonly generateText: Pick<GenerateTextUseCase, 'execute'>;
    readonly generateJSON: Pick<GenerateJSONUseCase, 'execute'>;
    readonly agenticExecution: Pick<AgenticExecutionUseCase, 'execute' | 'start'>;
    readonly embed: Pick<EmbedUseCase, 'execute'>;
  };
  readonly control: RunControl;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Messages whose runs have not begun. Default: there are none. */
  readonly messages?: WaitingMessages | undefined;
  /** Counts a call towards its user's rate limit. @throws LLMRateLimitError */
  readonly admit?: (actor: Actor, kind: CallKind) => Promise<void>;
}

/** `model` operations call a model, `command` operations control a run. */
export type CallKind = 'model' | 'command';

type Method<R> = (actor: Actor, ...args: readonly unknown[]) => Promise<R>;

/**
 * Every operation throws LLMAuthError if nobody is logged in, LLMInvalidRequestError for invalid arguments, and
 * whatever its use case throws.
 */
export interface AIMethods {
  readonly 'ai.llm.generateText': Method<string>;
  readonly 'ai.llm.generateJSON': Method<unknown>;
  readonly 'ai.llm.generateWithTools': Method<LLMResponse>;
  /** The vectors of texts. */
  readonly 'ai.llm.embed': Method<Embeddings>;
  readonly 'ai.runs.start': Method<{ readonly executionId: string }>;
  readonly 'ai.runs.cancel': Method<RunState>;
  /** Continues a parked run. @throws ConflictError for other runs */
  readonly 'ai.runs.resume': Method<RunState>;
  /**
   * With `startTime`, lets a call under review run again.
   * @throws ConflictError if the call's arguments are not the ones that were shown, or it was started since
   */
  readonly 'ai.runs.approve': Method<DecidedCall>;
  /** @throws ConflictError as `approve` does */
  readonly 'ai.runs.reject': Method<DecidedCall>;
  readonly 'ai.runs.submitToolResult': Method<SubmittedCall>;
  /** Sends a signal to a run. @throws ConflictError for a run that has ended, or was sent too many */
  readonly 'ai.runs.signal': Method<SentSignal>;
}

export function createRunOperations({ useCases, control, ownerOf, messages, admit }: AIMethodsPorts): AIMethods {
  /** Arguments are validated first, so that an invalid call does not count towards the rate limit. */
  const modelOperation =
    <A, R>(read: (args: readonly unknown[]) => A, run: (actor: Actor, request: A) => Promise<R>): Method<R> =>
    async (actor, ...args) => {
      signedIn(actor);
      const request = read(args);
      await admit?.(actor, 'model');
      return run(actor, request);
    };
  const commandOperation =
    <A extends { readonly executionId: string }, R>(
      read: (args: readonly unknown[]) => A,
      run: (command: A, actor: Actor) => Awaitable<R>,
    ): Method<R> =>
    async (actor, ...args) => {
      signedIn(actor);
      const command = read(args);
      await admit?.(actor, 'command');
      if (!canAccess(actor, await ownerOf(command.executionId))) throw new UnknownRunError();
      return run(command, actor);
    };

  return {
    'ai.llm.generateText': modelOperation(readTextRequest, (actor, request) =>
      useCases.generateText.execute(actor, request),
    ),
    'ai.llm.generateJSON': modelOperation(readJSONRequest, (actor, request) =>
      useCases.generateJSON.execute(actor, request),
    ),
    'ai.llm.generateWithTools': modelOperation(readToolsRequest, (actor, request) =>
      useCases.agenticExecution.execute(actor, request),
    ),
    'ai.llm.embed': modelOperation(readEmbedRequest, (actor, request) => useCases.embed.execute(actor, request)),
    'ai.runs.start': modelOperation(readToolsRequest, (actor, request) =>
      useCases.agenticExecution.start(actor, request),
    ),
    async 'ai.runs.cancel'(actor, ...args) {
      signedIn(actor);
      const { executionId } = readNamedRun(args);
      await admit?.(actor, 'command');
      const owner = await ownerOf(executionId);
      if (canAccess(actor, owner)) return control.cancel(executionId);
      if (owner !== undefined || !canAccess(actor, await messages?.userOf(executionId))) throw new UnknownRunError();
      await messages?.cancel(executionId);
      return 'cancelled';
    },
    'ai.runs.resume': commandOperation(readNamedRun, ({ executionId }, actor) => {
      assertMayDecide(actor);
      return control.resumeParked(executionId);
    }),
    'ai.runs.approve': commandOperation(readDecision, async (decision, actor) => {
      assertMayDecide(actor);
      const { executionId, callId, argumentsHash, startTime } = decision;
      const by = deciderOf(actor);
      const state = await (startTime === undefined
        ? control.approve(executionId, callId, argumentsHash, by)
        : control.rerun(executionId, callId, startTime, argumentsHash, by));
      return { executionId, callId, state };
    }),
    'ai.runs.reject': commandOperation(readDecision, async ({ executionId, callId, reason, argumentsHash }, actor) => {
      assertMayDecide(actor);
      const state = await control.reject(executionId, callId, reason, argumentsHash, deciderOf(actor));
      return { executionId, callId, state };
    }),
    'ai.runs.submitToolResult': commandOperation(readSubmittedResult, async (submitted, actor) => {
      const { executionId, callId } = submitted;
      // The outcome of a call under review decides about it.
      if (actor.mayDecide === false && needsReview({ state: await control.stateOfCall(executionId, callId) }))
        assertMayDecide(actor);
      const result = await control.submitToolResult(executionId, callId, submitted.result, deciderOf(actor));
      return { executionId, callId, result, state: await control.stateOfCall(executionId, callId) };
    }),
    'ai.runs.signal': commandOperation(readSentSignal, async ({ executionId, name, payload, signalId }) => ({
      executionId,
      name,
      result: await control.signal(executionId, name, payload, signalId),
    })),
  };
}

/** @throws LLMPermissionError for an API token that may start runs, but not decide about them and their calls */
function assertMayDecide({ mayDecide = true }: Actor): void {
  if (!mayDecide)
    throw new LLMPermissionError(
      'This API token may not decide about runs and tool calls. Use one with the scope "approve", or sign in.',
    );
}

function deciderOf({ userId, tokenId }: Actor): Decider {
  return { userId, at: Date.now(), ...(tokenId === undefined ? {} : { tokenId }) };
}

export function signedIn({ userId }: Actor): void {
  if (userId === '') throw new LLMAuthError('You must be logged in.');
}

/** Whether the actor may see and control what belongs to `owner`. */
export function canAccess({ userId, isAdmin }: Actor, owner: string | undefined): boolean {
  return owner !== undefined && (owner === userId || isAdmin === true);
}

/** The run does not exist, or belongs to another user: the two are indistinguishable to the caller. */
export class UnknownRunError extends LLMInvalidRequestError {
  constructor() {
    super('There is no such run.', { path: 'executionId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}
