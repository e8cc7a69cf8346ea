/**
 * Runs tool calls: arguments, approval, timeout, result text. The one engine behind the agentic loop and native
 * sessions. It never throws, and never waits for a tool longer than the tool's timeout.
 */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import {
  applyToolEvent,
  createToolCall,
  isExecuting,
  isExternalTool,
  isPending,
  needsApproval,
  needsReview,
} from '../../domain/entities/Tool';
import type { FunctionTool, OnToolChange, ToolCall, ToolResult } from '../../domain/entities/Tool';
import { shownImages } from '../../domain/entities/shownImages';
import { isImageResult } from '../../domain/entities/ImageResult';
import { ToolError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { IToolExecutor, ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { LooseTool } from '../../domain/types/LLMTypes';
import type { CallOrigin } from '../../domain/types/RequestRecords';
import { unreachable } from '../../domain/util/unreachable';
import { awaitSignal } from './tools/signals/awaitSignal';
import { payloadOf } from './tools/signals/RunSignals';
import type { RunSignals } from './tools/signals/RunSignals';
import { throughOutages } from './shared/throughOutages';
import { DueTimes } from './shared/DueTimes';
import { canonicalJson } from '../../domain/util/canonicalJson';
import { isThenable } from './shared/isThenable';
import { elapsedSince } from './shared/time';
import { DECISION_LIFETIME_MS } from './tools/decisions';
import type { Approval, ExternalResult, Review } from './tools/decisions';
import { toolHash } from './tools/toolChanges';
import { WorkInProgress } from './tools/WorkInProgress';
import { parseToolArguments } from './tools/parseToolArguments';
import type { ChildRuns, ParentRun } from './tools/ChildRuns';
import { settleByChild } from './tools/settleByChild';
import { signalWait } from './tools/signalWait';
import { timeNamedBy } from './tools/timerTime';
import { toToolResult } from '../../domain/run/toolOutputs';
import { serializeToolResult } from './tools/toolResult';
import { definitionIn } from './tools/definitionIn';
import { resolveTools } from './tools/ToolSet';
import type { OfferedTool, ToolSet } from './tools/ToolSet';
import { ToolCallOutcome } from './tools/ToolCallOutcome';
import type { RunObserver } from '../../domain/interfaces/Instrumentation';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { withLogIds } from './shared/logIds';
import { takeTurn, ToolConcurrency } from './tools/ToolConcurrency';
import type { Semaphore } from './tools/ToolConcurrency';
import { saveCheckpoint } from './tools/saveCheckpoint';
import type { StoredJob } from './tools/saveCheckpoint';
import { inputRequester } from './tools/toolInput';
import type { AskingJob } from './tools/toolInput';
import { requireOptions } from './shared/requireOptions';

export interface ToolProcessorOptions {
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultTimeout?: number | undefined;
  /** UTF-8 bytes of a result that are sent to the model; default 256 KiB. */
  readonly maxResultBytes?: number | undefined;
  /** Asked before each call that somebody outside causes. Default: what was permitted at the start stays permitted. */
  readonly access?: Pick<AccessPolicy, 'refusalOfTool'> | undefined;
  /** Learns of the tools that run. While it drains, no tool is started, and calls stay pending. */
  readonly work?: WorkInProgress;
}

/** One call in the context of its run. */
export interface ToolJob extends AskingJob, StoredJob {
  readonly userId: string;
  /** Where the run comes from. Absent: the app's own code. */
  readonly origin?: CallOrigin | undefined;
  readonly executionId: string;
  readonly concurrency: ToolConcurrency;
  /** Absent: nobody observes the run, or there is none. */
  readonly observer?: Pick<RunObserver, 'runTool'> | undefined;
  /**
   * Called before the tool runs. Absent outside of runs.
   * @returns resolves when the tool may run, and rejects once the run has ended, or was lost; undefined if it may at
   *   once
   */
  begin?(): Promise<void> | undefined;
  /** Resolves when a person decides. Called only for calls that need approval. */
  awaitApproval(): Promise<Approval>;
  /** Signals that arrive for the run. Absent outside of runs. */
  readonly signals?: RunSignals | undefined;
  /** Starts runs for calls. Absent outside of runs. */
  readonly children?: { readonly runs: ChildRuns; readonly parent: ParentRun } | undefined;
  /** Resolves when the result is submitted. Called only for external tools. */
  awaitExternal(): Promise<ExternalResult>;
  /**
   * Resolves when a person decides. Called only for calls that another process started and that must not run twice.
   * Absent if runs are not stored.
   */
  readonly awaitReview?: (() => Promise<Review>) | undefined;
  /** Whether whoever has called can go on before the tool has ended. */
  readonly isDetachable?: boolean;
}

export interface ToolCallsOptions {
  readonly userId: string;
  /** Names of the executor's tools, or definitions. */
  readonly tools: readonly (string | LooseTool)[];
  readonly signal?: AbortSignal;
  /** Default 8. */
  readonly maxParallelTools?: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
export const DEFAULT_MAX_RESULT_BYTES = 256 * 1024;

interface ValidArguments {
  readonly args: unknown;
}

export class ToolProcessor {
  /** The times for which calls wait. */
  readonly dueTimes = new DueTimes();
  private readonly toolExecutor: IToolExecutor;
  private readonly defaultTimeoutMs: number;
  private readonly maxResultBytes: number;
  private readonly access: ToolProcessorOptions['access'];
  private readonly work: WorkInProgress;

  constructor(options: ToolProcessorOptions) {
    requireOptions(options, ['toolExecutor'], 'new ToolProcessor({ toolExecutor })');
    this.toolExecutor = options.toolExecutor;
    this.defaultTimeoutMs = options.defaultTimeout ?? DEFAULT_TIMEOUT_MS;
    this.maxResultBytes = options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES;
    this.access = options.access;
    this.work = options.work ?? new WorkInProgress();
  }

  /**
   * Runs a call, whose events `job.report` receives. Never throws.
   * @param onPrepared called once when the call was accepted, waits for a person, or has settled
   */
  begin(job: ToolJob, tools: ToolSet, onPrepared?: () => void): void {
    const outcome = new ToolCallOutcome(job, onPrepared);
    if (outcome.isOpen()) void this.settle(job, tools, outcome);
  }

  /** Resolves when the call has settled, or its tool is not to be waited for any more. Never rejects. */
  process(job: ToolJob, tools: ToolSet): Promise<void> {
    return new Promise((resolve) => {
      const outcome = new ToolCallOutcome(job);
      if (!outcome.isOpen()) {
        resolve();
        return;
      }
      outcome.onSettled(() => resolve());
      outcome.onDetach(resolve);
      void this.settle(job, tools, outcome);
    });
  }

  /**
   * Runs calls outside of a run and waits for all of them. Tools that need approval, and external tools, fail.
   * @returns the results in the order of the calls
   * @throws LLMInvalidRequestError for an unknown name in `tools`
   */
  async processToolCalls(
    toolCalls: readonly Pick<ToolCall, 'call_id' | 'name' | 'arguments'>[],
    { userId, tools, signal = new AbortController().signal, maxParallelTools = 8 }: ToolCallsOptions,
  ): Promise<readonly ToolResult[]> {
    // Each open call adds a listener; Node would warn of a leak from the eleventh on.
    setMaxListeners(0, signal);
    const toolSet = resolveTools(tools, this.toolExecutor);
    const concurrency = new ToolConcurrency(maxParallelTools);
    const executionId = randomUUID();
    const settled = await Promise.all(
      toolCalls.map((call, index) =>
        this.settleAlone(
          { ...call, id: `${call.call_id}:${index}` },
          { userId, executionId, signal, concurrency },
          toolSet,
        ),
      ),
    );
    return settled.map((call) => ({ ...toToolResult(call), call_id: call.call_id }));
  }

  /** Runs one call outside of a run, where nobody can approve it or submit its result. @returns the settled call */
  async settleAlone(
    given: Pick<ToolCall, 'id' | 'call_id' | 'name' | 'arguments'>,
    context: Pick<ToolJob, 'userId' | 'executionId' | 'signal' | 'concurrency'>,
    tools: ToolSet,
    onToolCall?: (call: ToolCall) => void,
  ): Promise<ToolCall> {
    const { id, call_id, name, arguments: text } = given;
    let call = createToolCall({ id, call_id, name, arguments: text, blocking: true, createdAt: Date.now() });
    const job: ToolJob = {
      ...context,
      call,
      report: (event) => {
        call = applyToolEvent(call, event);
        onToolCall?.(call);
      },
      awaitApproval: () => Promise.resolve({ approved: false, reason: 'Nobody can approve it in this session.' }),
      awaitExternal: () =>
        Promise.reject(
          new ToolError('rejected', 'Its result is submitted by another service, which this session cannot wait for.'),
        ),
    };
    await this.process(job, tools);
    return call;
  }

  /** Ends when the call has settled, or its tool was started. */
  private async settle(job: ToolJob, tools: ToolSet, outcome: ToolCallOutcome): Promise<void> {
    const { call } = job;
    try {
      const start = job.concurrency.starts.begin();
      if (start !== undefined) await start;
      if (!outcome.isOpen()) return;
      const tool = tools.get(call.name);
      if (requiresReview(call, tool) && job.awaitReview !== undefined) {
        if (!(await this.mayRerun(job, job.awaitReview, outcome))) return;
      }
      if (tool === undefined) throw unknownTool(call.name, tools);
      if (this.isRestricted(job)) await this.assertPermitted(job, outcome);
      const validation = this.validate(job, tool, outcome);
      const validated = isThenable(validation) ? await validation : validation;
      if (validated === undefined) return;
      const { args } = validated;
      if (!outcome.isOpen() || joinsDuplicate(tool, args, job, outcome)) return;
      const mayAsk = isPending(call) && call.isApproved !== true && (tool.definition.needsApproval ?? false) !== false;
      const current = this.currentDefinition(call.name);
      const rule = ruleOfChange(tool, current);
      if (rule === 'end') throw changedTool(call.name, 'since the run began');
      const mustAsk =
        needsApproval(call) ||
        (mayAsk && (await requiresApproval(tool, args, job))) ||
        (rule === 'ask' && isPending(call) && call.isApproved !== true);
      outcome.prepared();
      if (mustAsk) await this.awaitApproval(job, outcome);
      // Approvals may take a day.
      if (mustAsk && outcome.isOpen()) this.assertUnchanged(call.name, current);
      if (mustAsk && outcome.isOpen() && this.isRestricted(job)) await this.assertPermitted(job, outcome);
      if (!outcome.isOpen()) return;
      const running = this.run(job, tool, args, outcome);
      if (running !== undefined) await running;
    } catch (thrown) {
      outcome.fail(thrown);
    } finally {
      outcome.prepared();
      if (outcome.isInterrupted) this.work.endTool(outcome);
    }
  }

  /**
   * The arguments of a call that an earlier process started were valid then. If they no longer are, because the tool
   * has changed since, the call cannot be repeated, and it is not known whether it took effect.
   * @returns undefined if a person has supplied the outcome, or the run is over
   * @throws ToolError `invalid-arguments`
   */
  private validate(
    job: ToolJob,
    tool: OfferedTool,
    outcome: ToolCallOutcome,
  ): ValidArguments | Promise<ValidArguments | undefined> {
    const { call, userId } = job;
    try {
      const checked = tool.validate(parseToolArguments(call.arguments), userId);
      if (!isThenable(checked)) return { args: checked };
      return Promise.resolve(checked).then(
        (args) => ({ args }),
        (error: unknown) => this.afterInvalid(error, job, tool, outcome),
      );
    } catch (error) {
      return this.afterInvalid(error, job, tool, outcome);
    }
  }

  /** @throws the error of the validation, unless the outcome is known by then */
  private async afterInvalid(
    error: unknown,
    job: ToolJob,
    tool: OfferedTool,
    outcome: ToolCallOutcome,
  ): Promise<undefined> {
    const { call, awaitReview } = job;
    const isUncertain = mayHaveTakenEffect(call, tool) && !outcome.isRerunApproved;
    if (!isUncertain || awaitReview === undefined) throw error;
    if (outcome.isOpen() && (await this.mayRerun(job, awaitReview, outcome))) throw error;
    return undefined;
  }

  private currentDefinition(name: string): FunctionTool | undefined {
    return definitionIn(this.toolExecutor, name);
  }

  /** A person approved the call of another tool. @throws ToolError `rejected` */
  private assertUnchanged(name: string, before: FunctionTool | undefined): void {
    const now = this.currentDefinition(name);
    if (before === undefined || now === undefined || now === before || toolHash(now) === toolHash(before)) return;
    if ((now.onChange ?? 'continue') !== 'continue') throw changedTool(name, 'while its call waited for approval');
  }

  /** Somebody outside has the server run one of its own tools. */
  private isRestricted({ call, origin }: ToolJob): boolean {
    if (this.access?.refusalOfTool === undefined || origin === undefined || origin.source === 'job') return false;
    return this.currentDefinition(call.name) !== undefined;
  }

  /** @throws ToolError `rejected` */
  private async assertPermitted({ call, userId, origin }: ToolJob, outcome: ToolCallOutcome): Promise<void> {
    const tokenId = origin?.tokenId;
    const actor = { userId, source: 'http', ...omitUndefined({ tokenId }) } as const;
    const refusal = await throughOutages(
      async () => this.access?.refusalOfTool?.(actor, call.name),
      () => outcome.isOpen(),
    );
    if (refusal !== undefined) throw new ToolError('rejected', refusal);
  }

  /** @throws ToolError `rejected` */
  private async awaitApproval(job: ToolJob, outcome: ToolCallOutcome): Promise<void> {
    if (!outcome.isOpen()) return;
    if (isPending(job.call)) {
      const at = Date.now();
      job.report({ type: 'tool:approval_required', at, expiresAt: at + DECISION_LIFETIME_MS });
    }
    const approval = await job.awaitApproval();
    if (!approval.approved) throw new ToolError('rejected', `The call was not approved: ${approval.reason}`);
  }

  /** @returns false if the review supplied the call's outcome, or the run is over */
  private async mayRerun(job: ToolJob, awaitReview: () => Promise<Review>, outcome: ToolCallOutcome): Promise<boolean> {
    if (!needsReview(job.call)) {
      const at = Date.now();
      job.report({ type: 'tool:needs_review', at, expiresAt: at + DECISION_LIFETIME_MS });
    }
    outcome.prepared();
    const review = await awaitReview();
    if (!outcome.isOpen()) return false;
    if ('approved' in review) {
      if (!review.approved)
        throw new ToolError(
          'rejected',
          `It is not known whether the tool took effect, and it was not run again: ${review.reason}`,
        );
      outcome.isRerunApproved = true;
      return true;
    }
    if ('error' in review) throw new ToolError('threw', review.error);
    this.complete(review.output, outcome);
    return false;
  }

  /** @returns undefined if the call settles when its result is submitted, or its time has come */
  private run(job: ToolJob, tool: OfferedTool, args: unknown, outcome: ToolCallOutcome): Promise<void> | undefined {
    const { kind = 'function' } = tool.definition;
    switch (kind) {
      case 'function':
        return this.runWhenFree(job, tool, args, outcome);
      case 'timer':
        this.runTimer(job, args, outcome);
        return undefined;
      case 'signal':
        if (job.signals !== undefined) return this.runSignal(job, job.signals, tool, args, outcome);
        break;
      case 'run': {
        const { children } = job;
        if (children !== undefined) return this.runChild(job, children, tool, args, outcome);
        break;
      }
      case 'external':
        break;
      default:
        return unreachable(kind);
    }
    this.runExternal(job, tool, outcome);
    return undefined;
  }

  private runExternal(job: ToolJob, tool: OfferedTool, outcome: ToolCallOutcome): void {
    this.startWait(job, tool, outcome);
    this.settleBySubmission(job, outcome);
  }

  private runTimer(job: ToolJob, args: unknown, outcome: ToolCallOutcome): void {
    const { call } = job;
    const stored = isExecuting(call) && 'expiresAt' in call ? call.expiresAt : undefined;
    const now = Date.now();
    const wakesAt = stored ?? timeNamedBy(args, now);
    outcome.markExecuting(wakesAt, now);
    outcome.completeAt(wakesAt, this.dueTimes);
    this.settleBySubmission(job, outcome);
  }

  /** Not awaited: a call that waits for days holds no more than this callback. */
  private settleBySubmission(job: ToolJob, outcome: ToolCallOutcome): void {
    job.awaitExternal().then(
      (result) => {
        if ('error' in result) outcome.fail(new ToolError('threw', result.error));
        else this.complete(result.output, outcome);
      },
      // Outside of a run nobody can submit one.
      (thrown: unknown) => outcome.fail(thrown),
    );
  }

  private runChild(
    job: ToolJob,
    children: NonNullable<ToolJob['children']>,
    tool: OfferedTool,
    args: unknown,
    outcome: ToolCallOutcome,
  ): Promise<void> {
    const { call, observer } = job;
    this.runExternal(job, tool, outcome);
    const settle = (): Promise<void> =>
      settleByChild(children, outcome, job.concurrency, {
        id: call.id,
        isWanted: () => outcome.isOpen(),
        isHandedOver: () => job.signal.isHandedOver === true,
        optionsOf: () => this.toolExecutor.execute(call.name, args, contextOf(job, outcome, this.work)),
        verifyLease: async () => job.flushJournal?.(),
        complete: (answer) => this.complete(answer, outcome),
      });
    // The run belongs to the call's trace.
    return observer === undefined ? settle() : observer.runTool(call, settle);
  }

  private async runSignal(
    job: ToolJob,
    signals: RunSignals,
    tool: OfferedTool,
    args: unknown,
    outcome: ToolCallOutcome,
  ): Promise<void> {
    const { call, executionId } = job;
    const { name, timeoutMs } = signalWait(args, tool.definition.timeout);
    const stored = isExecuting(call) && 'expiresAt' in call ? call.expiresAt : undefined;
    const now = Date.now();
    const expiresAt = stored ?? now + timeoutMs;
    outcome.markExecuting(expiresAt, now);
    const submitted = job.awaitExternal();
    // A process that has lost the run takes no signal.
    await job.flushJournal?.();
    const { dueTimes } = this;
    const awaited = { signals, dueTimes, executionId, callId: call.id, name, expiresAt, submitted };
    const end = await awaitSignal(awaited, outcome);
    if (end === undefined) return;
    if (end === 'expired') outcome.timeOut(timeoutMs);
    else if ('signalId' in end) outcome.complete(serializeToolResult(payloadOf(end), this.maxResultBytes));
    else {
      if ('error' in end) outcome.fail(new ToolError('threw', end.error));
      else this.complete(end.output, outcome);
      // One may have been taken meanwhile. It is another call's once this one has been recorded without it.
      await job.flushJournal?.();
      await signals.giveBack(executionId, call.id);
    }
  }

  private startWait(job: ToolJob, tool: OfferedTool, outcome: ToolCallOutcome): void {
    const { timeout = DECISION_LIFETIME_MS } = tool.definition;
    const now = Date.now();
    const elapsedMs = 'startTime' in job.call ? elapsedSince(job.call.startTime ?? 0, now) : 0;
    outcome.markExecuting(now - elapsedMs + timeout, now);
    outcome.startTimeout(timeout, elapsedMs, this.dueTimes);
  }

  /** @returns undefined if the tool runs */
  private runWhenFree(
    job: ToolJob,
    tool: OfferedTool,
    args: unknown,
    outcome: ToolCallOutcome,
  ): Promise<void> | undefined {
    const { concurrency } = job;
    const shared = job.call.blocking ? concurrency.blocking : concurrency.nonBlocking;
    const semaphores = tool.definition.sequential === true ? [concurrency.sequential, shared] : [shared];
    const turn = takeTurn(semaphores, concurrency.executions);
    const start = (): Promise<void> | undefined => this.start(job, tool, args, outcome, semaphores);
    return turn === undefined ? start() : turn.then(start);
  }

  /** @returns as `runWhenFree` does */
  private start(
    job: ToolJob,
    tool: OfferedTool,
    args: unknown,
    outcome: ToolCallOutcome,
    semaphores: readonly Semaphore[],
  ): Promise<void> | undefined {
    const release = (): void => {
      for (const semaphore of semaphores) semaphore.release();
    };
    if (!outcome.isOpen() || this.work.isDraining) {
      release();
      return undefined;
    }
    this.work.beginTool(outcome);
    // A tool that ignores its abort signal frees its slot when the call settles, not when the tool returns.
    outcome.onSettled(() => {
      release();
      this.work.endTool(outcome);
    });
    outcome.markExecuting();
    const begun = job.begin?.();
    if (begun === undefined) {
      // A listener of the start may have ended the run.
      if (outcome.isOpen()) this.execute(job, tool, args, outcome);
      return undefined;
    }
    return begun.then(
      () => {
        if (!outcome.isOpen()) return;
        if (outcome.isInterrupted) throw new ToolError('interrupted', 'The process shuts down.');
        this.execute(job, tool, args, outcome);
      },
      // What refuses the record of the start has closed the outcome.
      () => undefined,
    );
  }

  /** Nothing is held while the tool runs but what its outcome needs. @throws what the tool throws at once */
  private execute(job: ToolJob, tool: OfferedTool, args: unknown, outcome: ToolCallOutcome): void {
    const { call, executionId, observer } = job;
    const startedAt = performance.now();
    const run = (): unknown =>
      tool.execute === undefined
        ? this.toolExecutor.execute(call.name, args, contextOf(job, outcome, this.work))
        : tool.execute(args);
    const value = withLogIds({ run: executionId, call: call.id }, () =>
      observer === undefined ? run() : observer.runTool(call, run),
    );
    // The tool may have ended its own run.
    if (isThenable(value) && outcome.isOpen())
      outcome.startTimeout(tool.definition.timeout ?? this.defaultTimeoutMs, performance.now() - startedAt);
    void Promise.resolve(value).then(
      (result) => {
        this.complete(result, outcome);
        this.work.endTool(outcome);
      },
      (thrown: unknown) => {
        outcome.fail(thrown);
        this.work.endTool(outcome);
      },
    );
  }

  private complete(value: unknown, outcome: ToolCallOutcome): void {
    try {
      if (!isImageResult(value)) {
        outcome.complete(serializeToolResult(value, this.maxResultBytes));
        return;
      }
      const images = shownImages(value.images);
      const left = value.images.length - images.length;
      const text = serializeToolResult(value.value, this.maxResultBytes);
      outcome.complete(left === 0 ? text : `${text}\n[${left} of its images are left out.]`, images);
    } catch (thrown) {
      outcome.fail(thrown);
    }
  }
}

function contextOf(job: ToolJob, outcome: ToolCallOutcome, work: WorkInProgress): ToolCallContext {
  const { call, userId, executionId } = job;
  return {
    get signal() {
      return outcome.signal;
    },
    userId,
    callId: call.id,
    executionId,
    idempotencyKey: `${executionId}:${call.id}`,
    progress: (fraction, note) => outcome.progress(fraction, note),
    requestInput: inputRequester(job, outcome, work),
    saveCheckpoint: (checkpoint) => {
      const saved = saveCheckpoint(job, outcome, work, checkpoint);
      // A tool that does not wait for it ends nothing.
      saved.catch(() => undefined);
      return saved;
    },
    ...(job.isDetachable === true ? { detach: (timeoutMs: number) => outcome.detach(timeoutMs) } : {}),
    ...(call.checkpoint === undefined || outcome.isRerunApproved ? {} : { checkpoint: call.checkpoint }),
  };
}

/**
 * Whether the call takes its outcome from an identical one that is still open, as the tool's `onDuplicate` demands.
 * @throws ToolError `duplicate` if the tool rejects duplicates
 */
function joinsDuplicate(tool: OfferedTool, args: unknown, job: ToolJob, outcome: ToolCallOutcome): boolean {
  const { onDuplicate = 'allow', name } = tool.definition;
  if (onDuplicate === 'allow') return false;
  const { openCalls } = job.concurrency;
  const key = `${name} ${canonicalJson(args)}`;
  const other = openCalls.get(key);
  if (other === undefined) {
    openCalls.set(key, outcome);
    outcome.onSettled(() => openCalls.delete(key));
    return false;
  }
  if (onDuplicate === 'reject')
    throw new ToolError('duplicate', `An identical call to "${name}" is still running; its result will follow.`);
  outcome.mirror(other);
  return true;
}

/**
 * Whether a person must decide before the call runs again, because an earlier process may have run it already.
 * Idempotent tools and those that change nothing may simply run again, one with a checkpoint goes on from there, and
 * external work continues wherever it is done.
 */
function requiresReview(call: ToolCall, tool: OfferedTool | undefined): boolean {
  if (needsReview(call)) return true;
  if (!isExecuting(call) || call.checkpoint !== undefined) return false;
  return tool === undefined || (mayHaveTakenEffect(call, tool) && tool.definition.idempotent !== true);
}

/** Whether an earlier process may have run the call to an effect that is not known. */
function mayHaveTakenEffect(call: ToolCall, { definition }: OfferedTool): boolean {
  return isExecuting(call) && definition.readOnly !== true && !isExternalTool(definition);
}

async function requiresApproval(tool: OfferedTool, args: unknown, job: ToolJob): Promise<boolean> {
  const rule = tool.definition.needsApproval;
  const { userId, executionId, call } = job;
  if (typeof rule === 'function') return await rule(args, { userId, executionId, callId: call.id });
  return rule === true;
}

/** What the tool demands if its definition is another than that with which the run offered it. */
function ruleOfChange({ registered }: OfferedTool, current: FunctionTool | undefined): OnToolChange {
  if (registered === undefined || current === undefined || current === registered) return 'continue';
  return toolHash(current) === toolHash(registered) ? 'continue' : (current.onChange ?? 'continue');
}

function changedTool(name: string, when: string): ToolError {
  return new ToolError('rejected', `The definition of the tool "${name}" has changed ${when}, so it was not called.`);
}

function unknownTool(name: string, { names, missing, deferred }: ToolSet): ToolError {
  const listed = deferred === undefined ? names : names.filter((each) => !deferred.names.has(each));
  const offered = listed.length === 0 ? 'No tools are offered.' : `The offered tools are: ${listed.join(', ')}.`;
  const others = deferred === undefined ? '' : ` Find others with "${deferred.searchTool}".`;
  const what = missing.includes(name) ? `The tool "${name}" no longer exists.` : `Unknown tool "${name}".`;
  return new ToolError('unknown-tool', `${what} ${offered}${others}`);
}
