/**
 * Asks a model, runs the tools that it calls, tells it the results, until it answers. One loop serves any number of
 * concurrent runs; nothing of a run lives here but its entry in the table of runs. With a run store, runs outlive
 * the process and are reached from any other.
 */
import { randomUUID } from 'node:crypto';
import { isFinished } from '../../domain/entities/Run';
import type { RunResult, RunState, ToolStatistics } from '../../domain/entities/Run';
import { isSettled } from '../../domain/entities/Tool';
import type { ToolCall, ToolExecutionContext } from '../../domain/entities/Tool';
import { restoreError } from '../../domain/errors/restoreError';
import { ConflictError, LLMAbortedError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { AgentEvent, AgentEventOf, AgentEventType } from '../../domain/types/AgentEvents';
import type { HeldRun, RunLimits, RunOrder } from '../../domain/types/RunRecords';
import { argumentsHash } from './shared/canonicalJson';
import { acceptsDecision, acceptsResult } from './runs/durable/RemoteRuns';
import { LiveRun } from './runs/LiveRun';
import { SafeEmitter } from './shared/SafeEmitter';
import { DurableRuns } from './runs/durable/DurableRuns';
import type { RunMetadata, ClaimedRun } from './runs/durable/DurableRuns';
import { DEFAULT_LIMITS, limitsOf, planRun, readStoredPlan } from './runs/planRun';
import type { PlannedRun, RunOptions } from './runs/planRun';
import { ResilientProvider } from './routing/ResilientProvider';
import { restoreRun } from './runs/durable/restoreRun';
import { RunLoop } from './runs/RunLoop';
import type { LeaseTimes } from './runs/durable/LeaseHeartbeat';
import type { RunContext } from './runs/RunContext';
import { toStorableResult } from './submittedResult';
import { MAX_TAKEOVERS, recoveryLimitError } from './runs/durable/recoveryLimit';
import { ToolProcessor } from './ToolProcessor';
import type { Approval, ExternalResult } from './ToolProcessor';

export interface AgenticLoopOptions extends Partial<RunLimits> {
  /** A bare provider is given the one retry policy. */
  readonly provider: ILLMProvider;
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultToolTimeout?: number;
  /** UTF-8 bytes of a tool's result that the model is told; default 256 KiB. */
  readonly maxResultBytes?: number;
  /** How many finished runs can still be read; default 200. */
  readonly keepFinished?: number;
  /** Told what a listener threw; default: standard error. */
  readonly onListenerError?: (error: unknown) => void;
  /** Where runs are written down, so that they outlive this process. Absent: nowhere. */
  readonly runStore?: RunStore;
  readonly leaseTimes?: Partial<LeaseTimes>;
  /**
   * How often a run is taken over from lost owners without getting on; the next one ends it. Default:
   * `MAX_TAKEOVERS`.
   */
  readonly maxTakeovers?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface ExecuteOptions extends RunOptions {
  /**
   * `wait` (default) resolves when nothing is pending; `return` at the first answer, the rest follows in
   * `followUps`.
   */
  readonly onPending?: 'wait' | 'return';
  readonly executionId?: string;
}

/** A run that was begun and, with a run store, written down: nothing but its end can end it. */
export interface StartedRun {
  readonly executionId: string;
  readonly done: Promise<RunResult>;
}

/** Each event under its own name, and every one under `event`. */
export type AgenticLoopEvents = { [T in AgentEventType]: (event: AgentEventOf<T>) => void } & {
  event: (event: AgentEvent) => void;
};

interface BegunRun
  extends Pick<RunContext, 'returnsEarly' | 'journal'>, Partial<Pick<RunContext, 'restored' | 'refusal'>> {
  readonly executionId: string;
  readonly userId: string;
  readonly plan: PlannedRun;
}

interface RunEntry {
  readonly execution: LiveRun;
  readonly driver: RunLoop;
}

export class AgenticLoop extends SafeEmitter<AgenticLoopEvents> {
  private readonly provider: ILLMProvider;
  private readonly toolExecutor: IToolExecutor;
  private readonly processor: ToolProcessor;
  private readonly limits: RunLimits;
  private readonly keepFinished: number;
  private readonly maxTakeovers: number;
  private readonly live = new Map<string, RunEntry>();
  private readonly finished = new Map<string, LiveRun>();
  private readonly journaled: DurableRuns | undefined;

  constructor(options: AgenticLoopOptions) {
    super(options.onListenerError ?? ((error) => console.error('a listener of the agentic loop failed:', error)));
    const {
      provider,
      toolExecutor,
      defaultToolTimeout,
      maxResultBytes,
      runStore,
      leaseTimes,
      logger = console,
    } = options;
    this.provider = provider.retriesFailedCalls === true ? provider : new ResilientProvider({ provider });
    this.toolExecutor = toolExecutor;
    this.processor = new ToolProcessor({
      toolExecutor,
      ...(defaultToolTimeout === undefined ? {} : { defaultTimeout: defaultToolTimeout }),
      ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    });
    this.limits = limitsOf(options, DEFAULT_LIMITS);
    this.keepFinished = options.keepFinished ?? 200;
    this.maxTakeovers = options.maxTakeovers ?? MAX_TAKEOVERS;
    if (runStore !== undefined)
      this.journaled = new DurableRuns({
        store: runStore,
        live: this.live,
        logger,
        ...(leaseTimes === undefined ? {} : { leaseTimes }),
      });
  }

  /**
   * Runs until the model answers and nothing is pending, or to the first answer with `onPending: 'return'`.
   * @throws LLMInvalidRequestError before anything is sent; any other LLMError ends the run and carries it in `.run`
   */
  async execute(userId: string, options: ExecuteOptions): Promise<RunResult> {
    const { done } = await this.start(userId, options);
    return done;
  }

  /**
   * The same; resolves as soon as the run is begun.
   * @param asked who asked for it, where somebody outside did
   * @throws ConflictError when the execution id, or the user's request id, is taken
   */
  async start(userId: string, options: ExecuteOptions, asked: RunMetadata = {}): Promise<StartedRun> {
    const { onPending, executionId = randomUUID(), ...wishes } = options;
    if (this.isHere(executionId)) throw new ConflictError(`the run '${executionId}' is under way`);
    const plan = planRun(wishes, this.toolExecutor, this.limits);
    const run = { executionId, userId, plan, returnsEarly: onPending === 'return' };
    if (this.journaled === undefined) return { executionId, done: this.drive({ ...run, journal: undefined }) };
    const journal = await this.journaled.create(
      { providerId: this.provider.getProviderName(), ...asked, executionId, userId },
      plan,
      wishes.tools,
    );
    return { executionId, done: this.journaled.endOf(executionId, this.drive({ ...run, journal }), wishes.signal) };
  }

  /**
   * Goes on with a run of the store, whoever had it: its last owner can write nothing to it any more. A run that
   * has ended ends again as it did.
   * @throws what ended it, as `execute` does; LLMInvalidRequestError for an unknown run
   */
  async resume(executionId: string): Promise<RunResult> {
    const ended = this.live.get(executionId)?.driver.completion;
    if (ended !== undefined) return ended;
    const journaled = this.stored(executionId);
    const claimed = await journaled.claim(executionId);
    return claimed === undefined
      ? journaled.runs.follow(executionId)
      : journaled.endOf(executionId, this.driveOn(claimed));
  }

  /**
   * Goes on with a run whose owner is gone, unless it has had another since it was seen. One that was taken over
   * too often without getting on is ended.
   * @returns undefined then, and when the run has ended
   * @throws as `resume` does
   */
  async takeOver(seen: HeldRun): Promise<RunResult | undefined> {
    const { executionId, takeovers } = seen;
    const journaled = this.stored(executionId);
    const isHopeless = takeovers >= this.maxTakeovers;
    // What this process had and gave up, because the store could not be written to, did not end it.
    const claimed = await journaled.takeOver(seen, isHopeless ? 'end' : seen.owner === this.ownerId ? 'asked' : 'lost');
    if (claimed === undefined) return undefined;
    return journaled.endOf(
      executionId,
      this.driveOn(claimed, isHopeless ? recoveryLimitError(takeovers, claimed.whole.calls) : undefined),
    );
  }

  /**
   * Begins a run that waits in the store for whoever is first.
   * @returns undefined when it has, or had, another owner: then it is that one's, or the recovery's
   * @throws LLMInvalidRequestError for an unknown run
   */
  async begin(executionId: string): Promise<StartedRun | undefined> {
    const journaled = this.stored(executionId);
    const claimed = await journaled.claim(executionId, ({ state, owner }) => state === 'queued' && owner === '');
    return claimed === undefined
      ? undefined
      : { executionId, done: journaled.endOf(executionId, this.driveOn(claimed)) };
  }

  /** The end of a run, in whichever process it comes to it. @throws as `resume` does; `signal.reason` */
  async follow(executionId: string, signal?: AbortSignal): Promise<RunResult> {
    const ended = this.live.get(executionId)?.driver.completion;
    const journaled = this.journaled;
    if (ended !== undefined) return journaled === undefined ? ended : journaled.endOf(executionId, ended, signal);
    return this.stored(executionId).runs.follow(executionId, signal);
  }

  /** Whose run it is, while it is live or lately finished. */
  ownerOf(executionId: string): string | undefined {
    return this.known(executionId)?.userId;
  }

  /** A run's calls, live or lately finished. */
  getExecutionContext(executionId: string): ToolExecutionContext | undefined {
    return this.known(executionId);
  }

  getToolStatistics(executionId: string): ToolStatistics | undefined {
    return this.known(executionId)?.statistics();
  }

  /** This process's name among the owners of stored runs. */
  get ownerId(): string | undefined {
    return this.journaled?.ownerId;
  }

  /** Runs for which this process has to live. */
  get size(): number {
    return this.journaled?.size ?? this.live.size;
  }

  /** Whether the run is under way in this process. */
  isHere(executionId: string): boolean {
    return this.live.has(executionId) || this.journaled?.isArriving(executionId) === true;
  }

  /**
   * Ends a run; one that is over stays as it is. Another process hears of it with its next heartbeat.
   * @returns the state in which it is now
   * @throws LLMInvalidRequestError for an unknown run
   */
  async cancel(executionId: string): Promise<RunState> {
    const execution = this.known(executionId);
    if (execution === undefined) return this.stored(executionId).cancel(executionId);
    this.live.get(executionId)?.driver.abort(new LLMAbortedError('The run was cancelled.'));
    return execution.state;
  }

  /**
   * Lets a call run that waits for approval, or run again after nobody knew whether it had.
   * @throws LLMInvalidRequestError when no such decision is waited for, ConflictError when other arguments were shown
   */
  approve(executionId: string, callId: string, shownHash?: string): Promise<ToolCall['state']> {
    return this.decideCall(executionId, callId, { approved: true }, shownHash);
  }

  /** @throws as `approve` does */
  reject(
    executionId: string,
    callId: string,
    reason = 'no reason was given',
    shownHash?: string,
  ): Promise<ToolCall['state']> {
    return this.decideCall(executionId, callId, { approved: false, reason }, shownHash);
  }

  /**
   * Gives a call its result: an external tool's, or one that needs a review. @throws LLMInvalidRequestError when
   * the call takes none
   */
  async submitToolResult(
    executionId: string,
    callId: string,
    result: ExternalResult,
  ): Promise<'accepted' | 'already-settled'> {
    const call = await this.callOf(executionId, callId);
    if (isSettled(call)) return 'already-settled';
    const isExternal =
      this.live.get(executionId)?.driver.calls.isExternal(call) ??
      this.toolExecutor.getToolDefinition(call.name)?.external === true;
    if (!acceptsResult(call, isExternal))
      throw new LLMInvalidRequestError(`the call '${callId}' does not wait for a submitted result`, { path: 'callId' });
    return (await this.settle(executionId, call, { kind: 'submit', callId, result: toStorableResult(result) }))
      ? 'accepted'
      : 'already-settled';
  }

  /** Stops here what goes on in other processes, or in this one's next life. Runs without a store are cancelled. */
  async close(): Promise<void> {
    if (this.journaled === undefined)
      for (const { driver } of this.live.values()) driver.abort(new LLMAbortedError('The process is being stopped.'));
    else await this.journaled.close();
  }

  private async decideCall(
    executionId: string,
    callId: string,
    approval: Approval,
    shownHash: string | undefined,
  ): Promise<ToolCall['state']> {
    const call = await this.callOf(executionId, callId);
    if (shownHash !== undefined && shownHash !== argumentsHash(call.arguments)) {
      throw new ConflictError(`the decision on '${callId}' was made for other arguments`);
    }
    const order: RunOrder = approval.approved
      ? { kind: 'approve', callId }
      : { kind: 'reject', callId, reason: approval.reason };
    if (!acceptsDecision(call) || !(await this.settle(executionId, call, order))) {
      throw new LLMInvalidRequestError(`the call '${callId}' does not wait for approval`, { path: 'callId' });
    }
    return call.state;
  }

  /** @returns false when somebody else was first */
  private async settle(executionId: string, call: ToolCall, order: RunOrder): Promise<boolean> {
    if (this.journaled !== undefined) return this.journaled.settle(executionId, call, order);
    return this.live.get(executionId)?.driver.apply(order) === true;
  }

  private async callOf(executionId: string, callId: string): Promise<ToolCall> {
    const execution = this.known(executionId);
    if (execution === undefined) return this.stored(executionId).runs.call(executionId, callId);
    const call = execution.calls.get(callId);
    if (call === undefined) throw new LLMInvalidRequestError(`the run has no call '${callId}'`, { path: 'callId' });
    return call;
  }

  private known(executionId: string): LiveRun | undefined {
    return this.live.get(executionId)?.execution ?? this.finished.get(executionId);
  }

  /** The runs that are written down. @throws LLMInvalidRequestError where none are */
  private stored(executionId: string): DurableRuns {
    if (this.journaled === undefined)
      throw new LLMInvalidRequestError(`there is no run '${executionId}'`, { path: 'executionId' });
    return this.journaled;
  }

  private drive({ executionId, userId, plan, returnsEarly, journal, restored, refusal }: BegunRun): Promise<RunResult> {
    const { provider, processor, tell: emit } = this;
    const { options, tools, limits, stream } = plan;
    const past = restored?.past;
    const execution = new LiveRun({
      id: executionId,
      userId,
      input: options.input,
      emit,
      ...(past === undefined ? {} : { past }),
    });
    const driver = new RunLoop({
      execution,
      provider,
      processor,
      options,
      tools,
      limits,
      stream,
      returnsEarly,
      journal,
      restored,
      refusal,
    });
    this.live.set(executionId, { execution, driver });
    return driver.run();
  }

  private driveOn({ whole, journal }: ClaimedRun, hopeless?: LLMError): Promise<RunResult> {
    const { executionId, userId, error, response } = whole.run;
    // One that was about to end when its owner was lost ends as it was meant to: its calls may be cancelled already.
    const { plan, refusal = error === undefined ? hopeless : restoreError(error.code, error.message, response) } =
      readStoredPlan(whole.run, this.toolExecutor);
    return this.drive({
      executionId,
      userId,
      plan,
      returnsEarly: false,
      journal,
      restored: restoreRun(whole),
      refusal,
    });
  }

  private readonly tell = (event: AgentEvent): void => {
    const entry = this.live.get(event.executionId);
    if (entry !== undefined && isFinished(entry.execution.state)) this.retire(entry.execution);
    // The union and the map of listeners are built from the same type, event by event.
    (this.emit as (type: string, event: AgentEvent) => boolean)(event.type, event);
    (this.emit as (type: string, event: AgentEvent) => boolean)('event', event);
  };

  private retire(execution: LiveRun): void {
    this.live.delete(execution.executionId);
    this.finished.set(execution.executionId, execution);
    for (const oldest of this.finished.keys()) {
      if (this.finished.size <= this.keepFinished) break;
      this.finished.delete(oldest);
    }
  }
}
