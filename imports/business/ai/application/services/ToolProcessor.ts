/**
 * Runs tool calls: arguments, approval, time-out, fencing, result text. The one engine under the agentic loop and
 * native sessions. It never throws and never waits for a tool longer than the tool may take.
 */
import { ToolError } from '../../domain/errors/LLMErrors';
import type { ToolCall } from '../../domain/entities/Tool';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import { canonicalJson } from './shared/canonicalJson';
import { elapsedSince } from './shared/time';
import { parseToolArguments } from './tools/parseToolArguments';
import { serializeToolResult } from './tools/toolResult';
import type { OfferedTool, ToolSet } from './tools/ToolSet';
import { ToolCallOutcome } from './tools/ToolCallOutcome';
import type { ToolCallHandle } from './tools/ToolCallOutcome';
import type { ToolConcurrency } from './tools/ToolConcurrency';

export interface ToolProcessorOptions {
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultTimeout?: number;
  /** UTF-8 bytes of a result that the model is told; default 256 KiB. */
  readonly maxResultBytes?: number;
}

export type Approval = { readonly approved: true } | { readonly approved: false; readonly reason: string };
export type ExternalResult = { readonly output: unknown } | { readonly error: string };

/**
 * What somebody decides about a call of which nobody knows whether it ran: to run it again, not to, or what it
 * gave.
 */
export type Review = Approval | ExternalResult;

/** One call, and the run around it. */
export interface ToolJob extends ToolCallHandle {
  readonly userId: string;
  readonly executionId: string;
  readonly slots: ToolConcurrency;
  /** Settles when a person decides; asked only for calls that need approval. */
  readonly awaitApproval: () => Promise<Approval>;
  /** Settles when the result is submitted; asked only for external tools. */
  readonly awaitExternal: () => Promise<ExternalResult>;
  /** Settles when somebody decides; asked only for calls that another process began, and that must not run twice. */
  readonly awaitReview?: (() => Promise<Review>) | undefined;
  /** Resolves when what was reported is written down: nothing is run before that. Absent where nothing is. */
  readonly recorded?: (() => Promise<void>) | undefined;
}

/** Neither promise ever rejects. */
export interface ToolProgress {
  /** The call is accepted, waits for approval, or has failed already. */
  readonly prepared: Promise<void>;
  /** The call has reached its terminal state, which `job.report` was told. */
  readonly settled: Promise<unknown>;
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
    const settlement = new ToolCallOutcome(job);
    const prepared = new Promise<void>((resolve) => {
      void settlement.outcome.then(() => resolve());
      if (settlement.isOpen()) void this.settle(job, tools, settlement, resolve);
    });
    return { prepared, settled: settlement.outcome };
  }

  private async settle(job: ToolJob, tools: ToolSet, settlement: ToolCallOutcome, prepared: () => void): Promise<void> {
    try {
      await this.attempt(job, tools, settlement, prepared);
    } catch (thrown) {
      settlement.fail(thrown);
    }
    prepared();
  }

  private async attempt(
    job: ToolJob,
    tools: ToolSet,
    settlement: ToolCallOutcome,
    prepared: () => void,
  ): Promise<void> {
    const { call } = job;
    const tool = tools.get(call.name);
    if (
      job.awaitReview !== undefined &&
      isUncertain(call, tool) &&
      !(await this.isToRunAgain(job, job.awaitReview, settlement, prepared))
    )
      return;
    if (tool === undefined) throw unknownTool(call.name, tools.names);
    const args = await tool.validate(parseToolArguments(call.arguments));
    if (!settlement.isOpen() || joinsAnother(tool, args, job, settlement)) return;
    const asksFirst =
      call.state === 'awaiting_approval' || (call.state === 'pending' && (await needsApproval(tool, args, job)));
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
  private async isToRunAgain(
    job: ToolJob,
    awaitReview: () => Promise<Review>,
    settlement: ToolCallOutcome,
    prepared: () => void,
  ): Promise<boolean> {
    if (job.call.state !== 'needs_review') job.report({ type: 'tool:needs_review', at: Date.now() });
    prepared();
    const review = await awaitReview();
    if (!settlement.isOpen()) return false;
    if ('approved' in review) {
      if (!review.approved)
        throw new ToolError(
          'rejected',
          `Whether the call was carried out is not known, and it was not run again: ${review.reason}`,
        );
      settlement.isReviewed = true;
      return true;
    }
    if ('error' in review) throw new ToolError('threw', review.error);
    this.complete(review.output, settlement);
    return false;
  }

  private async runExternal(job: ToolJob, tool: OfferedTool, settlement: ToolCallOutcome): Promise<void> {
    settlement.begin();
    const { timeout = DECISION_LIFETIME } = tool.definition;
    settlement.startTimeout(timeout, 'startTime' in job.call ? elapsedSince(job.call.startTime ?? 0) : 0);
    const result = await job.awaitExternal();
    if ('error' in result) throw new ToolError('threw', result.error);
    this.complete(result.output, settlement);
  }

  private async runInSlot(job: ToolJob, tool: OfferedTool, args: unknown, settlement: ToolCallOutcome): Promise<void> {
    const { slots } = job;
    const slot = job.call.blocking ? slots.blocking : slots.nonBlocking;
    const work = (): Promise<void> =>
      slot.run(() => {
        if (settlement.isOpen()) void this.run(job, tool, args, settlement);
        // A tool that ignores its abort signal gives its slot back when the call settles, not when the tool does.
        return settlement.outcome;
      });
    await (tool.definition.sequential === true ? slots.sequential.run(work) : work());
  }

  private async run(job: ToolJob, tool: OfferedTool, args: unknown, settlement: ToolCallOutcome): Promise<void> {
    const { call, userId, executionId } = job;
    try {
      settlement.begin();
      if (job.recorded !== undefined) {
        await job.recorded();
        if (!settlement.isOpen()) return;
      }
      settlement.startTimeout(tool.definition.timeout ?? this.defaultTimeout);
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

  private complete(value: unknown, settlement: ToolCallOutcome): void {
    settlement.complete(serializeToolResult(value, this.maxResultBytes));
  }
}

/**
 * Whether this call follows an identical one that is still open, by the tool's `onDuplicate`.
 * @throws ToolError `duplicate` where the tool rejects them
 */
function joinsAnother(tool: OfferedTool, args: unknown, job: ToolJob, settlement: ToolCallOutcome): boolean {
  const { onDuplicate = 'allow', name } = tool.definition;
  if (onDuplicate === 'allow') return false;
  const key = `${name} ${canonicalJson(args)}`;
  const other = job.slots.open.get(key);
  if (other === undefined) {
    job.slots.open.set(key, settlement);
    void settlement.outcome.then(() => job.slots.open.delete(key));
    return false;
  }
  if (onDuplicate === 'reject')
    throw new ToolError('duplicate', `An identical call to '${name}' is still running; its result will follow.`);
  settlement.mirror(other);
  return true;
}

/**
 * Another process began it, and running it again could do twice what it does. External work goes on wherever it is
 * done.
 */
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
