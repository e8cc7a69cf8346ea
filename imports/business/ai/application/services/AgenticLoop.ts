/**
 * Executes runs: calls a model, runs the tools that it requests, returns their results to it, and repeats until it
 * answers. One loop serves any number of concurrent runs and holds no state of a run beyond a registry entry. With a
 * run store, runs survive the process and can be reached from any other.
 */
import type { PromptSource } from '../../domain/interfaces/PromptSource';
import { programLogger } from '../../../../log/programLogger';
import { randomUUID } from 'node:crypto';
import { isFinished } from '../../domain/entities/Run';
import type { RunResult, RunState, ToolStatistics } from '../../domain/entities/Run';
import type { Decider, ToolCall, ToolExecutionContext } from '../../domain/entities/Tool';
import {
  ConflictError,
  LLMAbortedError,
  LLMInvalidRequestError,
  LLMOverloadedError,
} from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { currentInstrumentation } from '../../domain/interfaces/Instrumentation';
import type { Instrumentation, RunInstrumentation } from '../../domain/interfaces/Instrumentation';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { Logger } from '../../domain/interfaces/Logger';
import type { Memory } from '../../domain/interfaces/Memory';
import type { QueuedMessage } from '../../domain/interfaces/RunMessageStore';
import type { RunSignalStore } from '../../domain/interfaces/RunSignalStore';
import type { ChildRun, RunStore } from '../../domain/interfaces/RunStore';
import { RUN_END_EVENTS } from '../../domain/types/AgentEvents';
import type { AgentEvent, AgentEventOf, AgentEventType, LocalAgentEvent } from '../../domain/types/AgentEvents';
import type { CompactionOptions } from '../../domain/types/Compaction';
import type { RunFamily, RunRequest } from '../../domain/types/RunRecords';
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { RunLimits } from '../../domain/types/RunLimits';
import { SafeEmitter } from './shared/SafeEmitter';
import { DurableRuns } from './runs/durable/DurableRuns';
import type { ClaimedRun, RunEnding, RunMetadata } from './runs/durable/DurableRuns';
import { unknownRunError } from './runs/durable/RemoteRuns';
import type { RecallOption } from './runs/recallMemories';
import { compactionOf } from './runs/compaction/compactionOptions';
import { ExternalDecisions } from './runs/ExternalDecisions';
import type { RunOptions } from '../../domain/types/RunOptions';
import { DEFAULT_LIMITS, limitsOf } from '../../domain/run/runLimits';
import { ResilientProvider } from './routing/ResilientProvider';
import { ChildRuns } from './tools/ChildRuns';
import type { ChildOptions, ParentRun } from './tools/ChildRuns';
import type { LiveRun } from './runs/LiveRun';
import { runDetached } from './shared/runDetached';
import { RunStarter } from './runs/RunStarter';
import type { LeaseTimes } from './runs/durable/LeaseHeartbeat';
import { LocalRuns } from './runs/LocalRuns';
import { RunClaims } from './runs/durable/RunClaims';
import { RunPlanner } from './runs/RunPlanner';
import { RunRegistry } from './runs/RunRegistry';
import { MemoryRunSignals } from '../../domain/entities/MemoryRunSignals';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { MessageQueues } from './runs/MessageQueues';
import type { MessageChange, SendOptions, SentMessage } from './runs/MessageQueues';
import { readSignal } from './tools/signals/readSignal';
import { RunSignals } from './tools/signals/RunSignals';
import { WorkInProgress } from './tools/WorkInProgress';
import { DEFAULT_MAX_RESULT_BYTES, ToolProcessor } from './ToolProcessor';
import { assertUntrustedTools } from './tools/ToolSet';
import type { ExternalResult } from './tools/decisions';
import { requireOptions } from './shared/requireOptions';

/**
 * The limits are defaults for every run: `maxIterations` 10, `maxToolErrors` 3, `maxParallelTools` 8, `runTimeout`
 * 600,000 ms, no `budget`.
 */
export interface AgenticLoopOptions extends Partial<RunLimits> {
  /** Wrapped in a `ResilientProvider` unless it `retriesFailedCalls` itself. */
  readonly provider: ILLMProvider;
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultToolTimeout?: number;
  /** UTF-8 bytes of a tool's result that are sent to the model; default 256 KiB. */
  readonly maxResultBytes?: number;
  /**
   * Asked before each turn and each tool call of a run that somebody outside started. Default: nobody is refused or
   * removed.
   */
  readonly access?: Pick<AccessPolicy, 'refusalOfTool' | 'isRemoved'> | undefined;
  /** How many finished runs remain readable; default 200. */
  readonly keepFinished?: number;
  /** Keeps histories within the model's context window, for runs that do not set it. Default: true. */
  readonly compaction?: boolean | CompactionOptions | undefined;
  /** What `recall` searches. Default: there is none. */
  readonly memory?: Pick<Memory, 'search'> | undefined;
  /** Where `prompt` is found. Default: nowhere. */
  readonly prompts?: PromptSource | undefined;
  /** Receives what event listeners throw. Default: logs to standard error. */
  readonly onListenerError?: (error: unknown) => void;
  /** Records runs, so that they survive this process. Default: runs are not stored. */
  readonly runStore?: RunStore;
  /** Defaults: a lease of 15,000 ms, a heartbeat every 1,000 ms. */
  readonly leaseTimes?: Partial<LeaseTimes> | undefined;
  /**
   * Milliseconds for which a stored run waits for a process that has its tools, before one that lacks them goes on
   * without; default 600,000. Without effect where no other process uses the store.
   */
  readonly toolWaitMs?: number | undefined;
  /** Called with the user's id after the new state of a run, or of one of its calls, was stored. */
  readonly onStateStored?: ((userId: string) => void) | undefined;
  /** Default: the console. */
  readonly logger?: Logger;
  /** Observes runs. Default: reports to OpenTelemetry, if the program has an SDK of it. */
  readonly instrumentation?: (RunInstrumentation & Partial<Instrumentation>) | undefined;
}

export interface ExecuteOptions extends RunOptions {
  /**
   * When the promise resolves: `wait` (default) when the model has answered and no call is pending; `return` at the
   * first answer, while later ones arrive through `followUps`.
   */
  readonly onPending?: 'wait' | 'return';
  /** Default: a random UUID. */
  readonly executionId?: string;
  /**
   * Adds what is remembered about the user, and suits their last message, to the input. It is stored as a part of it,
   * so that a run which another process continues recalls nothing again. Default: false.
   */
  readonly recall?: RecallOption;
}

/** A run that has started and, with a run store, is recorded. */
export interface StartedRun {
  readonly executionId: string;
  /** Settles as the promise of `execute` does. */
  readonly done: Promise<RunResult>;
}

export interface LeasedWorkRunner {
  /** This process's id as an owner of such work. Empty without a run store. */
  readonly ownerId: string;
  /** Whether this process does the work with that id. */
  has(id: string): boolean;
  /**
   * Does the work while this process counts as alive to others. Without a run store, just does it.
   * @param id differs from those of other work in progress
   * @throws what the work throws; what the store throws before
   */
  run<T>(id: string, work: () => Promise<T>): Promise<T>;
}

const UNLEASED_WORK: LeasedWorkRunner = { ownerId: '', has: () => false, run: (_id, work) => work() };

/** Queues a run that a call has started. @throws ConflictError if the execution id is taken */
export type QueueChild = (
  userId: string,
  options: ExecuteOptions,
  queued: RunFamily & Pick<RunRequest, 'globalPriority' | 'trace'>,
) => Promise<unknown>;

/** Every event is emitted twice: under its own name and as `event`. */
export type AgenticLoopEvents = { [T in AgentEventType]: (event: LocalAgentEvent<AgentEventOf<T>>) => void } & {
  event: (event: LocalAgentEvent) => void;
};

/** Listeners run synchronously, and a listener that throws disturbs neither the run nor other listeners. */
export class AgenticLoop extends SafeEmitter<AgenticLoopEvents> {
  private readonly provider: ILLMProvider;
  private readonly toolExecutor: IToolExecutor;
  readonly planner: RunPlanner;
  /** The runs that this process executes. */
  readonly local: LocalRuns;
  /** Takes over stored runs. */
  readonly claims: RunClaims;
  /** Does other work that survives this process, under its lease: see `RunRecovery.add`. */
  readonly leasedWork: LeasedWorkRunner;
  private readonly registry: RunRegistry;
  private readonly launcher: RunStarter;
  private readonly work = new WorkInProgress();
  private readonly durable: DurableRuns | undefined;
  private readonly decisions: ExternalDecisions;
  private readonly instrumentation: RunInstrumentation | undefined;
  private readonly signalStore: RunSignalStore;
  private readonly signals: RunSignals;
  private readonly messages: MessageQueues;
  private readonly children: ChildRuns;
  private startQueuedChild: QueueChild | undefined;

  constructor(options: AgenticLoopOptions) {
    requireOptions(options, ['provider'], 'new AgenticLoop({ provider, toolExecutor })');
    super(
      options.onListenerError ??
        ((error) => programLogger(options.logger).error('A listener of the agentic loop threw.', error)),
    );
    const {
      provider,
      toolExecutor,
      defaultToolTimeout,
      maxResultBytes,
      keepFinished = 200,
      runStore,
      leaseTimes,
      instrumentation = currentInstrumentation(),
    } = options;
    const logger = programLogger(options.logger);
    this.instrumentation = instrumentation;
    this.provider = provider.retriesFailedCalls === true ? provider : resilient({ provider, logger }, instrumentation);
    this.toolExecutor = toolExecutor;
    const processor = new ToolProcessor({
      toolExecutor,
      access: options.access,
      work: this.work,
      defaultTimeout: defaultToolTimeout,
      maxResultBytes,
    });
    this.planner = new RunPlanner({
      toolExecutor,
      limits: limitsOf(options, DEFAULT_LIMITS),
      compaction: compactionOf(options.compaction),
      memory: options.memory,
      prompts: options.prompts,
    });
    this.registry = new RunRegistry(keepFinished);
    this.signalStore = runStore?.signals ?? new MemoryRunSignals();
    this.signals = new RunSignals(this.signalStore);
    this.messages = new MessageQueues({
      stored: runStore?.messages,
      registry: this.registry,
      tellOthers: async (executionId, when) => {
        // Another process may own the run by now.
        if (!this.local.has(executionId)) await this.durable?.remote.sendMessage(executionId, when);
      },
    });
    this.children = new ChildRuns({
      start: (parent, childOptions, family) => {
        // Called in the context of the call's span.
        const trace = this.instrumentation?.currentTrace();
        return runDetached(() => this.startChild(parent, childOptions, { ...family, ...omitUndefined({ trace }) }));
      },
      exists: async (executionId) =>
        this.registry.find(executionId) !== undefined || (await runStore?.head(executionId)) !== undefined,
      hasEnded: async (executionId) => {
        const { state } = this.registry.find(executionId) ?? (await runStore?.head(executionId)) ?? {};
        return state === undefined || isFinished(state);
      },
      waitForResult: (executionId) => this.waitForResult(executionId),
      cancel: (executionId) => this.cancelAndWait(executionId),
      childrenOf: (executionId) =>
        runStore?.childrenOf(executionId) ?? Promise.resolve(this.registry.childrenOf(executionId).map(toChildRun)),
    });
    this.launcher = new RunStarter({
      children: this.children,
      signals: this.signals,
      messages: this.messages.store,
      provider: this.provider,
      toolExecutor,
      processor,
      work: this.work,
      live: this.registry.live,
      publisher: { hears: this.hears, publish: this.publish },
      instrumentation,
      isUserRemoved: removalCheck(options.access, logger),
    });
    this.durable =
      runStore === undefined
        ? undefined
        : new DurableRuns({
            store: runStore,
            live: this.registry.live,
            work: this.work,
            logger,
            toolExecutor,
            toolWaitMs: options.toolWaitMs,
            onStateStored: options.onStateStored,
            publish: this.publish,
            instrumentation,
            leaseTimes,
          });
    this.decisions = new ExternalDecisions({
      registry: this.registry,
      toolExecutor,
      durable: this.durable,
      maxResultBytes: maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
    });
    this.local = new LocalRuns({ registry: this.registry, durable: this.durable, work: this.work });
    this.leasedWork = this.durable?.otherWork ?? UNLEASED_WORK;
    this.claims = new RunClaims({
      durable: this.durable,
      registry: this.registry,
      work: this.work,
      launch: this.launchClaimed,
      ending: (reason) => this.ending(reason),
      assertNotDraining: () => this.assertNotDraining(),
    });
  }

  /**
   * Executes a run until the model has answered and no call is pending, or until its first answer with
   * `onPending: 'return'`.
   * @throws LLMInvalidRequestError for invalid options, ConflictError for an execution id in use, both before
   *   anything is sent. Any other LLMError ended the run, and carries its report in `.run`
   */
  execute(userId: string, options: ExecuteOptions): Promise<RunResult> {
    // Holds no options while the run waits.
    return this.start(userId, options).then(({ done }) => done);
  }

  /**
   * Like `execute`, but resolves as soon as the run has started.
   * @param metadata stored with the run; ignored without a run store
   * @throws LLMInvalidRequestError for invalid options; ConflictError when the execution id, or the user's request
   *   id, is taken
   */
  async start(userId: string, options: ExecuteOptions, named: RunMetadata = {}): Promise<StartedRun> {
    const { onPending, executionId = randomUUID(), recall, ...given } = options;
    const needsMore = recall !== undefined || given.prompt !== undefined;
    const { options: runOptions, metadata } = needsMore
      ? await this.planner.completed(userId, given, recall, named)
      : { options: given, metadata: named };
    const loading = this.instrumentation?.ready();
    if (loading !== undefined) await loading;
    this.assertNotDraining();
    const untrusted = assertUntrustedTools(runOptions.tools ?? [], userId);
    if (untrusted !== undefined) await untrusted;
    // An earlier attempt that is not recorded yet may still fail, and then this one starts the run.
    while (this.durable?.isRegistering(executionId) === true) {
      await this.durable.whenRegistered(executionId);
      this.assertNotDraining();
    }
    if (this.local.has(executionId)) throw new ConflictError(`The run "${executionId}" is in progress.`);
    // Boundary: callers without types leave the executor out.
    if ((this.toolExecutor as unknown) === undefined && (runOptions.tools ?? []).length > 0)
      throw new LLMInvalidRequestError('Tools need a tool executor. Pass "toolExecutor" to the AgenticLoop.', {
        path: 'toolExecutor',
      });
    // A process that continues the run calls the same provider, or none.
    const providerId = runOptions.providerId ?? this.provider.routeOf?.(runOptions.model)?.providerId;
    const pinned = providerId === undefined ? runOptions : { ...runOptions, providerId };
    const plan = this.planner.plan(pinned);
    const observer = this.launcher.observe({ ...metadata, executionId, ...pinned });
    const init = { executionId, userId, plan, observer, origin: metadata, returnsEarly: onPending === 'return' };
    if (this.durable === undefined) return { executionId, done: this.launcher.launch({ ...init, journal: undefined }) };
    const { trace } = observer ?? {};
    try {
      const { done } = await this.durable.create(
        { providerId: this.provider.getProviderName(), ...metadata, ...omitUndefined({ trace }), executionId, userId },
        plan,
        runOptions.tools,
        (journal) => this.launcher.launch({ ...init, journal }),
      );
      return { executionId, done: this.durable.resultOf(executionId, done, runOptions.signal) };
    } catch (error) {
      observer?.refused(error);
      throw error;
    }
  }

  /**
   * Continues a stored run in this process, whichever process owns it; that owner can no longer write to it. For a run
   * that has ended, settles as the run did.
   * @throws the error that ended the run, as `execute` does; LLMInvalidRequestError for an unknown run
   */
  async resume(executionId: string): Promise<RunResult> {
    const completion = this.registry.live.get(executionId)?.interpreter.completion;
    if (completion !== undefined) return completion;
    const durable = this.requireDurable(executionId);
    this.assertNotDraining();
    const launched = await durable.claim(executionId, this.launchClaimed);
    return launched === undefined
      ? durable.remote.waitForResult(executionId)
      : durable.resultOf(executionId, launched.done);
  }

  /**
   * Continues a parked run, cleared of all suspicion: in this process, or in one that has its tools.
   * @returns the run's state now
   * @throws ConflictError if it is not parked; LLMInvalidRequestError for an unknown run; UnreadableRunError if it
   *   still cannot be read, and it stays parked
   */
  async resumeParked(executionId: string): Promise<RunState> {
    const durable = this.requireDurable(executionId);
    const launched = await durable.claim(executionId, this.launchClaimed, ({ parked }) => parked !== undefined);
    const left = launched === undefined ? await durable.remote.head(executionId) : undefined;
    // This process lacks its tools, so it goes on in another; or they have changed, and a person has to decide.
    if ((left?.awaitedTools ?? left?.parked) !== undefined) return left?.state ?? 'waiting';
    if (launched === undefined)
      throw new ConflictError(`The run "${executionId}" is not parked: it was resumed or has ended.`, {
        path: 'executionId',
      });
    // How it ends is reported by events and the store.
    launched.done.catch(() => undefined);
    return this.registry.find(executionId)?.state ?? 'running';
  }

  /**
   * Resolves with the result of a run, whichever process executes it. Runs of other processes are polled once per
   * heartbeat.
   * @param signal stops the waiting, not the run
   * @throws as `resume` does; `signal.reason`
   */
  async waitForResult(executionId: string, signal?: AbortSignal): Promise<RunResult> {
    const completion = this.registry.live.get(executionId)?.interpreter.completion;
    if (completion === undefined) return this.requireDurable(executionId).remote.waitForResult(executionId, signal);
    return this.durable === undefined ? completion : this.durable.resultOf(executionId, completion, signal);
  }

  /**
   * The tool calls of a run that is live or lately finished in this process. While a stored run waits for longer than a
   * lease, the results that the model has received are empty here: only the store has them.
   */
  getExecutionContext(executionId: string): ToolExecutionContext | undefined {
    return this.registry.find(executionId);
  }

  /** Counts of the run's tool calls; undefined as for `getExecutionContext`. */
  getToolStatistics(executionId: string): ToolStatistics | undefined {
    return this.registry.find(executionId)?.statistics();
  }

  /**
   * Cancels a run. Has no effect on one that has ended. One without an owner ends at once; a run of another process is
   * cancelled with that process's next heartbeat.
   * @returns the run's state now, which may still be `running` until the cancellation has taken effect
   * @throws LLMInvalidRequestError for an unknown run
   */
  async cancel(executionId: string): Promise<RunState> {
    const run = this.registry.find(executionId);
    if (run === undefined) {
      const durable = this.requireDurable(executionId);
      const state = await durable.cancel(executionId, this.ending('The run was cancelled.'));
      if (isFinished(state)) durable.remote.ended(executionId);
      return state;
    }
    this.registry.live.get(executionId)?.interpreter.abort(new LLMAbortedError('The run was cancelled.'));
    return run.state;
  }

  /**
   * Approves a call that waits for approval, or lets a call under review run again if nobody has approved it before.
   * Repeating the decision changes nothing, even if the call was interrupted meanwhile and is under review: see
   * `rerun`.
   * @param shownHash the `argumentsHash` of the arguments on which the person decided. Absent: not checked
   * @param by who decided, and when; kept with the call
   * @returns the call's state afterwards. A run of another process applies the decision with that process's next
   *   heartbeat, so its call may still be in the state before
   * @throws LLMInvalidRequestError for an unknown run or call, and for a call that waits for no decision;
   *   ConflictError if the call has other arguments, or its tool may ask something else
   * @param inputId the `input.id` of what the call's tool asks. Absent: refused for all but the first decision
   */
  approve(
    executionId: string,
    callId: string,
    shownHash?: string,
    by?: Decider,
    inputId?: string,
  ): Promise<ToolCall['state']> {
    const shown = { argumentsHash: shownHash, inputId };
    return this.decisions.decide(executionId, callId, { approved: true }, shown, by);
  }

  /**
   * Lets a call under review run again. Repeating the decision changes nothing, even if the call was interrupted again.
   * @param startTime when the attempt began whose outcome is unknown, as in the call and in its event
   * @returns and throws as `approve` does; ConflictError if the call is under review for another attempt
   */
  rerun(
    executionId: string,
    callId: string,
    startTime: number,
    shownHash?: string,
    by?: Decider,
  ): Promise<ToolCall['state']> {
    const shown = { argumentsHash: shownHash, startTime };
    return this.decisions.decide(executionId, callId, { approved: true }, shown, by);
  }

  /**
   * Rejects a call that waits for approval, or under review: the call fails.
   * @param reason sent to the model
   * @returns and throws as `approve` does
   */
  reject(
    executionId: string,
    callId: string,
    reason = 'No reason was given.',
    shownHash?: string,
    by?: Decider,
    inputId?: string,
  ): Promise<ToolCall['state']> {
    const shown = { argumentsHash: shownHash, inputId };
    return this.decisions.decide(executionId, callId, { approved: false, reason }, shown, by);
  }

  /**
   * Supplies the result of an external tool's call, or of a call under review.
   * @param result an `output`, which is serialized like a tool's return value, or an `error` message, which fails the
   *   call
   * @returns `already-settled` if the call has settled, or another decision came first; then nothing changes
   * @throws LLMInvalidRequestError for an unknown run or call, and for a call that takes no submitted result
   */
  submitToolResult(
    executionId: string,
    callId: string,
    result: ExternalResult,
    by?: Decider,
    inputId?: string,
  ): Promise<'accepted' | 'already-settled'> {
    return this.decisions.submitResult(executionId, callId, result, by, inputId);
  }

  /**
   * Sends a signal to a run: the call that waits for one with this name takes it, or the next one to do so. Signals
   * reach each call in the order in which they arrived.
   * @param payload any JSON value, at most 64 KiB as JSON text
   * @param signalId the same for repetitions, which change nothing. Default: a new one
   * @throws LLMInvalidRequestError for an unknown run, an invalid name or payload; ConflictError for a run that has
   *   ended, and one that was sent 1,000 signals
   */
  async signal(
    executionId: string,
    name: string,
    payload?: unknown,
    signalId: string = randomUUID(),
  ): Promise<'accepted' | 'repeated'> {
    const text = readSignal(name, payload, signalId);
    const run = this.registry.find(executionId);
    const state = run?.state ?? (await this.requireDurable(executionId).remote.head(executionId)).state;
    if (isFinished(state)) throw new ConflictError(`The run "${executionId}" has ended, and takes no signal.`);
    const signal = omitUndefined({ signalId, executionId, name, payload: text });
    const result = await this.signals.add(signal);
    if (this.registry.live.has(executionId)) this.signals.arrived(executionId);
    // Another process may own the run by now.
    if (!this.local.has(executionId)) await this.durable?.remote.sendSignal(executionId);
    return result;
  }

  /**
   * Sends a message to a run that has not ended. The model receives each message once, and those that wait for the same
   * moment in the order in which they were sent, whichever process executes the run.
   * @param message a text, or one message of the user
   * @returns `repeated` if the run was sent a message with this id before, and nothing changes
   * @throws LLMInvalidRequestError for an unknown run and for anything but one message of a user; ConflictError for a
   *   run that has ended, and one that was sent 1,000 messages
   */
  send(executionId: string, message: LLMInput, options: SendOptions = {}): Promise<SentMessage> {
    return this.messages.send(executionId, message, options);
  }

  /**
   * Changes a message that the run has not taken yet: its content, and when it is due.
   * @throws LLMInvalidRequestError for anything but one message of a user; ConflictError if the run has taken it
   */
  editMessage(executionId: string, messageId: string, change: MessageChange): Promise<void> {
    return this.messages.edit(executionId, messageId, change);
  }

  /** Withdraws a message. @throws ConflictError if the run has taken it */
  withdrawMessage(executionId: string, messageId: string): Promise<void> {
    return this.messages.withdraw(executionId, messageId);
  }

  /** The messages to a run that no request has delivered, in the order in which they were sent. */
  queuedMessages(executionId: string): Promise<readonly QueuedMessage[]> {
    return this.messages.list(executionId);
  }

  /**
   * A call of any run, with every decision that this process has applied.
   * @throws LLMInvalidRequestError for an unknown run or call
   */
  callOf(executionId: string, callId: string): Promise<ToolCall> {
    return this.decisions.recordedCall(executionId, callId);
  }

  /**
   * Begins no run, turn or tool any more, and waits for the model calls and tools in progress, so that `close` leaves
   * as little as possible unknown. Stored runs are left to other processes as soon as nothing of them is in progress.
   * Cancelling a run still works; other decisions wait for the next process.
   * @param over when this fires, the tools' signals do, and what they return within a second still counts
   */
  drain(over: AbortSignal): Promise<void> {
    return this.work.drain(over, () => this.durable?.leaveIdle());
  }

  /** Stops all runs of this process. Stored ones can be continued by another process; others are cancelled. */
  async close(): Promise<void> {
    this.work.startDraining();
    if (this.durable !== undefined) return this.durable.close();
    for (const { interpreter } of this.registry.live.values())
      interpreter.abort(new LLMAbortedError('The process is shutting down.'));
  }

  /** The runs that calls of queued runs start are queued, too. */
  queueChildren(startQueuedChild: QueueChild): void {
    this.startQueuedChild = startQueuedChild;
  }

  /** Resolves when the end is recorded, or the process that executes the run will cancel it. */
  private async cancelAndWait(executionId: string): Promise<void> {
    const completion = this.registry.live.get(executionId)?.interpreter.completion;
    await this.cancel(executionId);
    await completion?.catch(() => undefined);
  }

  private async startChild(
    parent: ParentRun,
    options: ChildOptions,
    family: RunFamily & Pick<RunRequest, 'trace'>,
  ): Promise<void> {
    const { userId, isQueued, globalPriority } = parent;
    if (isQueued === true && this.startQueuedChild !== undefined) {
      const priority = globalPriority === undefined ? {} : { globalPriority };
      await this.startQueuedChild(userId, options, { ...family, ...priority });
      return;
    }
    const { done } = await this.start(userId, options, family);
    // The call learns of its end through `waitForResult`.
    done.catch(() => undefined);
  }

  /** @throws LLMOverloadedError */
  private assertNotDraining(): void {
    if (this.work.isDraining)
      throw new LLMOverloadedError('The process is shutting down and starts no runs. Repeat the request.');
  }

  /** @throws LLMInvalidRequestError without a run store, where only live runs are known */
  private requireDurable(executionId: string): DurableRuns {
    if (this.durable === undefined) throw unknownRunError(executionId);
    return this.durable;
  }

  private readonly launchClaimed = (claimed: ClaimedRun): Promise<RunResult> => this.launcher.launchClaimed(claimed);

  private ending(reason: string): RunEnding {
    return {
      reason,
      launch: (claimed) => this.launcher.launchClaimed(claimed, new LLMAbortedError(reason)),
      cancelChildren: (executionId) => this.children.cancelAll(executionId),
    };
  }

  private readonly hears = (type: AgentEventType): boolean =>
    // A run retires with its last event.
    RUN_END_EVENTS.has(type) || this.listenerCount('event') > 0 || this.listenerCount(type) > 0;

  private readonly publish = (event: AgentEvent): void => {
    const entry = this.registry.live.get(event.executionId);
    if (entry !== undefined && RUN_END_EVENTS.has(event.type)) {
      this.registry.retire(entry.run);
      // After what other runs have done before was written.
      if (this.durable !== undefined) setImmediate(() => this.durable?.remote.ended(event.executionId));
      if (this.durable === undefined) {
        void this.signalStore.remove([event.executionId]);
        this.messages.remove(event.executionId);
      }
    }
    // The union of events and the map of listeners are derived from the same type.
    (this.emit as (type: string, event: AgentEvent) => boolean)(event.type, event);
    (this.emit as (type: string, event: AgentEvent) => boolean)('event', event);
  };
}

function toChildRun({ executionId, state, spent }: LiveRun): ChildRun {
  return { executionId, isFinished: isFinished(state), spent };
}

function resilient(
  options: { readonly provider: ILLMProvider; readonly logger: Logger },
  instrumentation: AgenticLoopOptions['instrumentation'],
): ILLMProvider {
  const router = new ResilientProvider(options);
  return instrumentation?.traceProvider?.(router, (model) => router.routeOf(model)) ?? router;
}

/** A user who cannot be looked up just now has not been removed. */
function removalCheck(
  access: AgenticLoopOptions['access'],
  logger: Logger,
): ((userId: string) => Promise<boolean>) | undefined {
  if (access?.isRemoved === undefined) return undefined;
  return async (userId) => {
    try {
      return (await access.isRemoved?.(userId)) === true;
    } catch (error) {
      logger.warn('Could not look up whether the user of a run still exists, so the run goes on.', error);
      return false;
    }
  };
}
