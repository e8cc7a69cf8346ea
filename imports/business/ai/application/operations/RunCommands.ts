/** Model calls and what people do about runs. Another user's run is indistinguishable from one that does not exist. */
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { RunState } from '../../domain/entities/Run';
import { inputOf, needsReview } from '../../domain/entities/Tool';
import type { Decider, ToolCall, ToolCallState } from '../../domain/entities/Tool';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { Embeddings } from '../../domain/types/EmbeddingTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { QueuedMessage } from '../../domain/interfaces/RunMessageStore';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { MessageChange, SendOptions, SentMessage } from '../services/runs/MessageQueues';
import type { ExternalResult } from '../services/tools/decisions';
import type { AgenticExecutionUseCase, AgenticRequest } from '../usecases/AgenticExecutionUseCase';
import type { EmbedRequest, EmbedUseCase } from '../usecases/EmbedUseCase';
import type { GenerateJSONUseCase, JSONRequest } from '../usecases/GenerateJSONUseCase';
import type { GenerateTextUseCase } from '../usecases/GenerateTextUseCase';
import type { UseRequest } from '../usecases/RunLauncher';
import { canAccess, UnknownRunError } from './runAccess';

type Awaitable<T> = T | Promise<T>;

/** Controls running runs; the agentic loop implements it. */
export interface RunControl {
  cancel(executionId: string): Awaitable<RunState>;
  resumeParked(executionId: string): Awaitable<RunState>;
  approve(
    executionId: string,
    callId: string,
    argumentsHash: string,
    by: Decider,
    inputId: string | undefined,
  ): Awaitable<ToolCallState>;
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
    inputId: string | undefined,
  ): Awaitable<ToolCallState>;
  submitToolResult(
    executionId: string,
    callId: string,
    result: ExternalResult,
    by: Decider,
    inputId: string | undefined,
  ): Awaitable<'accepted' | 'already-settled'>;
  callOf(executionId: string, callId: string): Awaitable<ToolCall>;
  signal(
    executionId: string,
    name: string,
    payload: unknown,
    signalId: string | undefined,
  ): Awaitable<'accepted' | 'repeated'>;
  send(executionId: string, message: LLMInput, options: SendOptions): Awaitable<SentMessage>;
  editMessage(executionId: string, messageId: string, change: MessageChange): Awaitable<void>;
  withdrawMessage(executionId: string, messageId: string): Awaitable<void>;
  queuedMessages(executionId: string): Awaitable<readonly QueuedMessage[]>;
}

/** Messages that wait for earlier ones of their conversation, by the ids that their runs will have. */
export interface WaitingMessages {
  /** Undefined for an unknown message, and one whose answer has ended. */
  userOf(executionId: string): Promise<string | undefined>;
  cancel(executionId: string): Promise<void>;
}

export interface RunCommandPorts {
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

export interface NamedCall {
  readonly executionId: string;
  readonly callId: string;
}

export interface Decision extends NamedCall {
  /** SHA-256 (hexadecimal) of the arguments that the person saw. */
  readonly argumentsHash: string;
  /** When the attempt began that an approval lets run again, for a call under review. */
  readonly startTime?: number | undefined;
  /** The `input.id` of what the call's tool asks. */
  readonly inputId?: string | undefined;
  readonly reason?: string | undefined;
}

/** A call after a decision, as recorded at that moment. */
export interface DecidedCall extends NamedCall {
  readonly state: ToolCallState;
}

export interface SubmittedCall extends DecidedCall {
  readonly result: 'accepted' | 'already-settled';
}

export interface Signal {
  readonly executionId: string;
  readonly name: string;
  readonly payload?: unknown;
  readonly signalId?: string | undefined;
}

export interface SentSignal extends Pick<Signal, 'executionId' | 'name'> {
  /** `repeated`: the run was sent a signal with this id before, and nothing changed. */
  readonly result: 'accepted' | 'repeated';
}

export interface NamedMessage {
  readonly executionId: string;
  readonly messageId: string;
}

/** Every method throws LLMRateLimitError for a user with too many calls, and what its use case or the loop throws. */
export class RunCommands {
  private readonly ports: RunCommandPorts;

  constructor(ports: RunCommandPorts) {
    this.ports = ports;
  }

  async generateText(actor: Actor, request: UseRequest): Promise<string> {
    await this.ports.admit?.(actor, 'model');
    return this.ports.useCases.generateText.execute(actor, request);
  }

  async generateJSON(actor: Actor, request: JSONRequest): Promise<unknown> {
    await this.ports.admit?.(actor, 'model');
    return this.ports.useCases.generateJSON.execute(actor, request);
  }

  async generateWithTools(actor: Actor, request: AgenticRequest): Promise<LLMResponse> {
    await this.ports.admit?.(actor, 'model');
    return this.ports.useCases.agenticExecution.execute(actor, request);
  }

  /** @returns the vectors of texts */
  async embed(actor: Actor, request: EmbedRequest): Promise<Embeddings> {
    await this.ports.admit?.(actor, 'model');
    return this.ports.useCases.embed.execute(actor, request);
  }

  /** Resolves as soon as the run is stored. */
  async start(actor: Actor, request: AgenticRequest): Promise<{ readonly executionId: string }> {
    await this.ports.admit?.(actor, 'model');
    return this.ports.useCases.agenticExecution.start(actor, request);
  }

  /** Cancels a run, or a message whose turn has not come. @throws UnknownRunError */
  async cancel(actor: Actor, executionId: string): Promise<RunState> {
    const { admit, ownerOf, control, messages } = this.ports;
    await admit?.(actor, 'command');
    const owner = await ownerOf(executionId);
    if (canAccess(actor, owner)) return control.cancel(executionId);
    if (owner !== undefined || !canAccess(actor, await messages?.userOf(executionId))) throw new UnknownRunError();
    await messages?.cancel(executionId);
    return 'cancelled';
  }

  /** Continues a parked run. @throws ConflictError for other runs */
  async resume(actor: Actor, executionId: string): Promise<RunState> {
    await this.assertAccess(actor, executionId);
    assertMayDecide(actor);
    return this.ports.control.resumeParked(executionId);
  }

  /**
   * With `startTime`, lets a call under review run again.
   * @throws ConflictError if the call's arguments are not the ones that were shown, or it was started since
   */
  async approve(actor: Actor, decision: Decision): Promise<DecidedCall> {
    const { executionId, callId, argumentsHash, startTime, inputId } = decision;
    await this.assertAccess(actor, executionId);
    assertMayDecide(actor);
    const { control } = this.ports;
    const by = deciderOf(actor);
    const state = await (startTime === undefined
      ? control.approve(executionId, callId, argumentsHash, by, inputId)
      : control.rerun(executionId, callId, startTime, argumentsHash, by));
    return { executionId, callId, state };
  }

  /** @throws ConflictError as `approve` does */
  async reject(actor: Actor, decision: Decision): Promise<DecidedCall> {
    const { executionId, callId, argumentsHash, reason, inputId } = decision;
    await this.assertAccess(actor, executionId);
    assertMayDecide(actor);
    const by = deciderOf(actor);
    const state = await this.ports.control.reject(executionId, callId, reason, argumentsHash, by, inputId);
    return { executionId, callId, state };
  }

  async submitToolResult(
    actor: Actor,
    {
      executionId,
      callId,
      inputId,
      result: given,
    }: NamedCall & Pick<Decision, 'inputId'> & { readonly result: ExternalResult },
  ): Promise<SubmittedCall> {
    await this.assertAccess(actor, executionId);
    const { control } = this.ports;
    // The outcome of a call under review decides about it, and so does that of one whose tool asks for a confirmation.
    if (actor.mayDecide === false) {
      const call = await control.callOf(executionId, callId);
      const question = inputOf(call);
      if (needsReview(call) || (question !== undefined && question.schema === undefined)) assertMayDecide(actor);
    }
    const result = await control.submitToolResult(executionId, callId, given, deciderOf(actor), inputId);
    const { state } = await control.callOf(executionId, callId);
    return { executionId, callId, result, state };
  }

  /** @throws ConflictError for a run that has ended, or was sent too many */
  async signal(actor: Actor, { executionId, name, payload, signalId }: Signal): Promise<SentSignal> {
    await this.assertAccess(actor, executionId);
    return { executionId, name, result: await this.ports.control.signal(executionId, name, payload, signalId) };
  }

  /** @throws ConflictError for a run that has ended, or was sent too many */
  async send(
    actor: Actor,
    { executionId, message, ...options }: { readonly executionId: string; readonly message: LLMInput } & SendOptions,
  ): Promise<NamedMessage & SentMessage> {
    await this.assertAccess(actor, executionId, 'model');
    return { executionId, ...(await this.ports.control.send(executionId, message, options)) };
  }

  /** @throws ConflictError if the run has taken the message */
  async editMessage(
    actor: Actor,
    { executionId, messageId, ...change }: NamedMessage & MessageChange,
  ): Promise<NamedMessage> {
    await this.assertAccess(actor, executionId);
    await this.ports.control.editMessage(executionId, messageId, change);
    return { executionId, messageId };
  }

  /** @throws ConflictError if the run has taken the message */
  async withdrawMessage(actor: Actor, { executionId, messageId }: NamedMessage): Promise<NamedMessage> {
    await this.assertAccess(actor, executionId);
    await this.ports.control.withdrawMessage(executionId, messageId);
    return { executionId, messageId };
  }

  async messages(actor: Actor, executionId: string): Promise<{ readonly messages: readonly QueuedMessage[] }> {
    if (!canAccess(actor, await this.ports.ownerOf(executionId))) throw new UnknownRunError();
    return { messages: await this.ports.control.queuedMessages(executionId) };
  }

  private async assertAccess(actor: Actor, executionId: string, kind: CallKind = 'command'): Promise<void> {
    await this.ports.admit?.(actor, kind);
    if (!canAccess(actor, await this.ports.ownerOf(executionId))) throw new UnknownRunError();
  }
}

/** @throws LLMPermissionError for an API token that may start runs, but not decide about them and their calls */
function assertMayDecide({ mayDecide = true }: Actor): void {
  if (!mayDecide)
    throw new LLMPermissionError(
      'This API token may not decide about runs and tool calls. Use one with the scope "approve", or sign in.',
    );
}

function deciderOf({ userId, tokenId }: Actor): Decider {
  return omitUndefined({ userId, at: Date.now(), tokenId });
}
