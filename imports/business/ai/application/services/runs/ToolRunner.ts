/** Performs the effects of one run that concern its tool calls, and passes decisions on to calls that wait for them. */
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import type { RunObserver } from '../../../domain/interfaces/Instrumentation';
import { callOf } from '../../../domain/run/ActiveRun';
import type { CallAction } from '../../../domain/types/RunRecords';
import type { TraceContext } from '../../../domain/types/TraceContext';
import { ToolConcurrency } from '../tools/ToolConcurrency';
import type { RunStoreWriter } from './durable/RunStoreWriter';
import { PendingDecisions } from './PendingDecisions';
import type { RunCancellation } from './RunCancellation';
import type { RunContext } from './RunContext';
import type { RunEventTarget } from './RunEventTarget';
import { RunToolJob } from './RunToolJob';
import type { ToolJobOwner } from './RunToolJob';

export class ToolRunner implements ToolJobOwner {
  readonly cancellation: RunCancellation;
  readonly writer: RunStoreWriter | undefined;
  readonly concurrency: ToolConcurrency;
  readonly context: RunContext;
  private readonly target: RunEventTarget;
  /** Created when a call waits for a decision, which happens in few runs. */
  private decisions: PendingDecisions | undefined;

  constructor(
    context: RunContext,
    cancellation: RunCancellation,
    writer: RunStoreWriter | undefined,
    target: RunEventTarget,
  ) {
    this.context = context;
    this.cancellation = cancellation;
    this.writer = writer;
    this.target = target;
    this.concurrency = new ToolConcurrency(context.limits.maxParallelTools);
  }

  /** A blocking call is over when it has settled, any other when it was accepted. */
  start(callId: string): void {
    const { processor, tools, run } = this.context;
    const call = callOf(run.current, callId);
    const job = new RunToolJob(call, this);
    if (call.blocking) processor.begin(job, tools);
    else
      void new Promise<void>((resolve) => processor.begin(job, tools, resolve)).then(() =>
        this.target.dispatch({ type: 'callAccepted', callId }),
      );
  }

  /** @returns false if no call waits for this decision */
  decide(action: CallAction): boolean {
    const isAccepted = this.settleWait(action);
    // The call goes on in a microtask.
    if (isAccepted && action.by !== undefined)
      this.report(action.callId, { type: 'tool:decided', at: action.by.at, by: action.by });
    return isAccepted;
  }

  private settleWait(action: CallAction): boolean {
    switch (action.kind) {
      case 'approve':
        return this.decisions?.decide(action.callId, { approved: true }) === true;
      case 'reject':
        return this.decisions?.decide(action.callId, { approved: false, reason: action.reason }) === true;
      case 'submit':
        return this.decisions?.submit(action.callId, action.result) === true;
    }
  }

  /** Drops all pending decisions. */
  close(): void {
    this.decisions?.close();
  }

  /** For the job of a call. */
  within(work: () => void): void {
    this.target.detached(work);
  }

  /** For the job of a call. */
  begin({ name }: ToolCall): Promise<void> | undefined {
    return this.writer?.beforeTool(this.context.run.current.rules.tools.get(name)?.readOnly === true);
  }

  /** For the job of a call. */
  report(callId: string, event: ToolEvent): void {
    const { run, observer } = this.context;
    const begun = observer !== undefined && event.type === 'tool:executing';
    const traced = begun ? { ...event, ...traceOf(observer, callOf(run.current, callId)) } : event;
    this.target.dispatch({ type: 'callChanged', callId, event: traced });
  }

  get pendingDecisions(): PendingDecisions {
    this.decisions ??= new PendingDecisions(this.context.processor.dueTimes);
    return this.decisions;
  }
}

function traceOf(observer: RunObserver, call: ToolCall): { readonly trace?: TraceContext } {
  const trace = observer.beginTool(call);
  return trace === undefined ? {} : { trace };
}
