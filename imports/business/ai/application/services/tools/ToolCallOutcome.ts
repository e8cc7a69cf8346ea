/** The fence around one tool call: the first outcome counts, what comes after a time-out is kept as late. */
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import { ToolError } from '../../../domain/errors/LLMErrors';
import type { ToolFailure } from '../../../domain/errors/LLMErrors';
import { errorMessage } from './toolResult';

export interface ToolCallHandle {
  /** Pending, or as another process left it. */
  readonly call: ToolCall;
  /** Fires when the run ends. */
  readonly signal: AbortSignal;
  /** Told every move of the call, in order, at the time it happens. */
  readonly report: (event: ToolEvent) => void;
}

export class ToolCallOutcome {
  /** The event that ended the call. */
  readonly outcome: Promise<ToolEvent>;
  /** Somebody has decided that the call runs again. */
  isReviewed = false;
  private open = true;
  private timedOut = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Made when a tool asks for its signal. */
  private controller: AbortController | undefined;
  private readonly job: ToolCallHandle;
  private resolve: (event: ToolEvent) => void = () => undefined;
  private readonly onAbort = (): void => {
    this.end({
      type: 'tool:cancelled',
      at: Date.now(),
      error: { failure: 'cancelled', message: 'The run ended before the tool did.' },
    });
  };

  constructor(job: ToolCallHandle) {
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
    if (this.job.call.state !== 'executing' || this.isReviewed)
      this.job.report({ type: 'tool:executing', at: Date.now() });
  }

  /** @param timeout milliseconds, of which some are over */
  startTimeout(timeout: number, over = 0): void {
    this.timer = setTimeout(
      () => {
        this.timedOut = true;
        const message = `The tool '${this.job.call.name}' timed out after ${timeout} ms.`;
        this.end({ type: 'tool:timeout', at: Date.now(), error: { failure: 'timeout', message } });
      },
      Math.max(0, timeout - over),
    );
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (!this.open) this.abortTool();
    return this.controller.signal;
  }

  /** Ends as the other call ends. */
  mirror(other: ToolCallOutcome): void {
    this.begin();
    void other.outcome.then((event) => this.end(event));
  }

  progress(fraction: number, note: string | undefined): void {
    if (!this.open || !Number.isFinite(fraction)) return;
    const clamped = Math.min(1, Math.max(0, fraction));
    this.job.report({
      type: 'tool:progress',
      at: Date.now(),
      fraction: clamped,
      ...(typeof note === 'string' ? { note: note.slice(0, 500) } : {}),
    });
  }

  complete(result: string): void {
    if (this.open) this.end({ type: 'tool:completed', at: Date.now(), result });
    else if (this.timedOut) this.job.report({ type: 'tool:late', at: Date.now(), result });
  }

  fail(thrown: unknown): void {
    const failure: ToolFailure = thrown instanceof ToolError ? thrown.failure : 'threw';
    const message = errorMessage(thrown);
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
