/**
 * Runs tool calls: arguments, approval, time-out, fencing, result text. The one engine under the agentic loop and native sessions.
 * It never throws and never waits for a tool longer than the tool may take.
 */
import pLimit from 'p-limit';
import { ToolError } from '../../domain/errors/LLMErrors';
import type { ToolFailure } from '../../domain/errors/LLMErrors';
import type { ToolCall, ToolEvent } from '../../domain/entities/Tool';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import { canonicalJson } from './canonicalJson';
import { timeSince } from './timeSince';
import { parseToolArguments } from './toolArguments';
import { thrownMessage, toolResultText } from './toolResultText';
import type { OfferedTool, ToolSet } from './ToolSet';

export interface ToolProcessorOptions {
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultTimeout?: number;
  /** UTF-8 bytes of a result that the model is told; default 256 KiB. */
  readonly maxResultBytes?: number;
}

export type Approval = { readonly approved: true } | { readonly approved: false; readonly reason: string };
export type ExternalResult = { readonly output: unknown } | { readonly error: string };

/** What somebody decides about a call of which nobody knows whether it ran: to run it again, not to, or what it gave. */
export type Review = Approval | ExternalResult;

/** One call, and the run around it. */
export interface ToolJob {
  /** Pending, or as another process left it. */
  readonly call: ToolCall;
  readonly userId: string;
  readonly executionId: string;
  /** Fires when the run ends. */
  readonly signal: AbortSignal;
  readonly slots: ToolSlots;
  /** Told every move of the call, in order, at the time it happens. */
  readonly report: (event: ToolEvent) => void;
  /** Settles when a person decides; asked only for calls that need approval. */
  readonly awaitApproval: () => Promise<Approval>;
  /** Settles when the result is submitted; asked only for external tools. */
  readonly awaitExternal: () => Promise<ExternalResult>;
  /** Settles when somebody decides; asked only for calls that another process began, and that must not run twice. */
  readonly awaitReview?: () => Promise<Review>;
  /** Resolves when what was reported is written down: nothing is run before that. Absent where nothing is. */
  readonly recorded?: () => Promise<void>;
}

/** Neither promise ever rejects. */
export interface ToolProgress {
  /** The call is accepted, waits for approval, or has failed already. */
  readonly prepared: Promise<void>;
  /** The call has reached its terminal state, which `job.report` was told. */
  readonly settled: Promise<void>;
}

/** What the calls of one run share: slots, and who is at work. Non-blocking calls have slots of their own, so that long ones never hold up a turn. */
export interface ToolSlots {
  readonly blocking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly nonBlocking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly sequential: <T>(work: () => Promise<T>) => Promise<T>;
  /** Unsettled calls by tool and arguments, for tools that don't allow duplicates. */
  readonly open: Map<string, Settlement>;
}

/** Slots are made when they are first used: most runs that wait in great numbers need one kind. */
export function createToolSlots(maxParallelTools: number): ToolSlots {
  return { blocking: lazyLimit(maxParallelTools), nonBlocking: lazyLimit(maxParallelTools), sequential: lazyLimit(1), open: new Map() };
}

function lazyLimit(concurrency: number): ToolSlots['blocking'] {
  let limit: ReturnType<typeof pLimit> | undefined;
  return (work) => (limit ??= pLimit(concurrency))(work);
}

/** How long approvals and external results are waited for, in milliseconds. */
export const DECISION_LIFETIME = 24 * 60 * 60 * 1000;
const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_MAX_RESULT_BYTES = 256 * 1024;

export class ToolProcessor {
  private readonly toolExecutor: IToolExecutor;
  private readonly defaultTimeout: number;
  private readonly maxResultBytes: number;

  constructor(options: ToolProcessorOptions) {
    this.toolExecutor = options.toolExecutor;
    this.defaultTimeout = options.defaultTimeout ?? DEFAULT_TIMEOUT;
    this.maxResultBytes = options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES;
  }

  process(job: ToolJob, tools: ToolSet): ToolProgress {
    let prepared = (): void => undefined;
    const ready = new Promise<void>((resolve) => {
      prepared = resolve;
    });
    const settlement = new Settlement(job);
    if (settlement.isOpen()) {
      this.attempt(job, tools, settlement, prepared)
        .catch((thrown: unknown) => settlement.fail(thrown))
        .finally(prepared);
    }
    const settled = settlement.outcome.then(() => undefined);
    return { prepared: Promise.race([ready, settled]), settled };
  }

  private async attempt(job: ToolJob, tools: ToolSet, settlement: Settlement, prepared: () => void): Promise<void> {
    const { call } = job;
    const tool = tools.get(call.name);
    if (job.awaitReview !== undefined && isUncertain(call, tool) && !(await this.isToRunAgain(job, job.awaitReview, settlement, prepared))) return;
    if (tool === undefined) throw unknownTool(call.name, tools.names);
    const args = await tool.validate(parseToolArguments(call.arguments));
    if (!settlement.isOpen() || joinsAnother(tool, args, job, settlement)) return;
    const asksFirst = call.state === 'awaiting_approval' || (call.state === 'pending' && (await needsApproval(tool, args, job)));
    prepared();
    if (asksFirst) {
      if (!settlement.isOpen()) return;
      if (call.state === 'pending') job.report({ type: 'tool:approval_required', at: Date.now() });
      const approval = await job.awaitApproval();
      if (!approval.approved) throw new ToolError('rejected', `The call was not approved: ${approval.reason}`);
    }
    if (!settlement.isOpen()) return;
    if (tool.definition.external === true) await this.runExternal(job, tool, settlement);
    else await this.runInSlot(job, tool, args, settlement);
  }

  /** @returns false when the review has given the call its outcome, or the run is over */
  private async isToRunAgain(job: ToolJob, awaitReview: () => Promise<Review>, settlement: Settlement, prepared: () => void): Promise<boolean> {
    if (job.call.state !== 'needs_review') job.report({ type: 'tool:needs_review', at: Date.now() });
    prepared();
    const review = await awaitReview();
    if (!settlement.isOpen()) return false;
    if ('approved' in review) {
      if (!review.approved) throw new ToolError('rejected', `Whether the call was carried out is not known, and it was not run again: ${review.reason}`);
      settlement.isReviewed = true;
      return true;
    }
    if ('error' in review) throw new ToolError('threw', review.error);
    this.complete(review.output, settlement);
    return false;
  }

  private async runExternal(job: ToolJob, tool: OfferedTool, settlement: Settlement): Promise<void> {
    settlement.begin();
    const { timeout = DECISION_LIFETIME } = tool.definition;
    settlement.limit(timeout, 'startTime' in job.call ? timeSince(job.call.startTime ?? 0) : 0);
    const result = await job.awaitExternal();
    if ('error' in result) throw new ToolError('threw', result.error);
    this.complete(result.output, settlement);
  }

  private async runInSlot(job: ToolJob, tool: OfferedTool, args: unknown, settlement: Settlement): Promise<void> {
    const slot = job.call.blocking ? job.slots.blocking : job.slots.nonBlocking;
    // A tool that ignores its abort signal gives its slot back when the call settles, not when the tool does.
    const work = (): Promise<unknown> => slot<unknown>(() => (settlement.isOpen() ? Promise.race([this.run(job, tool, args, settlement), settlement.outcome]) : Promise.resolve()));
    await (tool.definition.sequential === true ? job.slots.sequential(work) : work());
  }

  private async run(job: ToolJob, tool: OfferedTool, args: unknown, settlement: Settlement): Promise<void> {
    settlement.begin();
    const { call, userId, executionId } = job;
    try {
      if (job.recorded !== undefined) {
        await job.recorded();
        if (!settlement.isOpen()) return;
      }
      settlement.limit(tool.definition.timeout ?? this.defaultTimeout);
      const value: unknown = await this.toolExecutor.execute(call.name, args, {
        get signal() {
          return settlement.signal;
        },
        userId,
        callId: call.id,
        executionId,
        idempotencyKey: `${executionId}:${call.id}`,
        progress: (fraction, note) => settlement.progress(fraction, note),
      });
      this.complete(value, settlement);
    } catch (thrown) {
      settlement.fail(thrown);
    }
  }

  private complete(value: unknown, settlement: Settlement): void {
    settlement.complete(toolResultText(value, this.maxResultBytes));
  }
}

/**
 * Whether this call follows an identical one that is still open, by the tool's `onDuplicate`.
 * @throws ToolError `duplicate` where the tool rejects them
 */
function joinsAnother(tool: OfferedTool, args: unknown, job: ToolJob, settlement: Settlement): boolean {
  const { onDuplicate = 'allow', name } = tool.definition;
  if (onDuplicate === 'allow') return false;
  const key = `${name} ${canonicalJson(args)}`;
  const other = job.slots.open.get(key);
  if (other === undefined) {
    job.slots.open.set(key, settlement);
    void settlement.outcome.then(() => job.slots.open.delete(key));
    return false;
  }
  if (onDuplicate === 'reject') throw new ToolError('duplicate', `An identical call to '${name}' is still running; its result will follow.`);
  settlement.follow(other);
  return true;
}

/** The fence around one call: the first outcome counts, what comes after a time-out is kept as late. */
class Settlement {
  /** The event that ended the call. */
  readonly outcome: Promise<ToolEvent>;
  /** Somebody has decided that the call runs again. */
  isReviewed = false;
  private open = true;
  private timedOut = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Made when a tool asks for its signal. */
  private controller: AbortController | undefined;
  private readonly job: ToolJob;
  private resolve: (event: ToolEvent) => void = () => undefined;
  private readonly onAbort = (): void => {
    this.end({ type: 'tool:cancelled', at: Date.now(), error: { failure: 'cancelled', message: 'The run ended before the tool did.' } });
  };

  constructor(job: ToolJob) {
    this.job = job;
    this.outcome = new Promise((resolve) => {
      this.resolve = resolve;
    });
    if (job.signal.aborted) this.onAbort();
    else job.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  isOpen(): boolean {
    return this.open;
  }

  /** A call that another process began is executing already. */
  begin(): void {
    if (this.job.call.state !== 'executing' || this.isReviewed) this.job.report({ type: 'tool:executing', at: Date.now() });
  }

  /** @param timeout milliseconds, of which some are over */
  limit(timeout: number, over = 0): void {
    this.timer = setTimeout(() => {
      this.timedOut = true;
      const message = `The tool '${this.job.call.name}' timed out after ${timeout} ms.`;
      this.end({ type: 'tool:timeout', at: Date.now(), error: { failure: 'timeout', message } });
    }, Math.max(0, timeout - over));
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (!this.open) this.abortTool();
    return this.controller.signal;
  }

  /** Ends as the other call ends. */
  follow(other: Settlement): void {
    this.begin();
    void other.outcome.then((event) => this.end(event));
  }

  progress(fraction: number, note: string | undefined): void {
    if (!this.open || !Number.isFinite(fraction)) return;
    const clamped = Math.min(1, Math.max(0, fraction));
    this.job.report({ type: 'tool:progress', at: Date.now(), fraction: clamped, ...(typeof note === 'string' ? { note: note.slice(0, 500) } : {}) });
  }

  complete(result: string): void {
    if (this.open) this.end({ type: 'tool:completed', at: Date.now(), result });
    else if (this.timedOut) this.job.report({ type: 'tool:late', at: Date.now(), result });
  }

  fail(thrown: unknown): void {
    const failure: ToolFailure = thrown instanceof ToolError ? thrown.failure : 'threw';
    const message = thrownMessage(thrown);
    if (this.open) this.end({ type: 'tool:failed', at: Date.now(), error: { failure, message } });
    else if (this.timedOut) this.job.report({ type: 'tool:late', at: Date.now(), result: `failed: ${message}` });
  }

  private end(event: ToolEvent): void {
    if (!this.open) return;
    this.open = false;
    clearTimeout(this.timer);
    this.job.signal.removeEventListener('abort', this.onAbort);
    this.job.report(event);
    this.resolve(event);
    if (event.type !== 'tool:completed') this.abortTool();
  }

  private abortTool(): void {
    this.controller?.abort(new ToolError('cancelled', `the call to '${this.job.call.name}' is over`));
  }
}

/** Another process began it, and running it again could do twice what it does. External work goes on wherever it is done. */
function isUncertain(call: ToolCall, tool: OfferedTool | undefined): boolean {
  if (call.state === 'needs_review') return true;
  return call.state === 'executing' && tool?.definition.idempotent !== true && tool?.definition.external !== true;
}

async function needsApproval(tool: OfferedTool, args: unknown, job: ToolJob): Promise<boolean> {
  const rule = tool.definition.needsApproval;
  if (typeof rule === 'function') return await rule(args, { userId: job.userId, executionId: job.executionId });
  return rule === true;
}

function unknownTool(name: string, names: readonly string[]): ToolError {
  const offered = names.length === 0 ? 'No tools are offered.' : `The tools are: ${names.join(', ')}.`;
  return new ToolError('unknown-tool', `There is no tool '${name}'. ${offered}`);
}
