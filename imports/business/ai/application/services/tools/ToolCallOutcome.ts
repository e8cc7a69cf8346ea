/**
 * Settles one tool call: the first outcome counts, and whatever the tool returns after its timeout is only
 * recorded.
 */
import { isExecuting, waitOf } from '../../../domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import { ToolError } from '../../../domain/errors/LLMErrors';
import type { InputImage } from '../../../domain/types/ResponsesAPITypes';
import type { ToolFailure } from '../../../domain/errors/LLMErrors';
import type { AbortListener, AbortSource } from '../shared/AbortSource';
import type { DueListener, DueTime, DueTimes } from '../shared/DueTimes';
import { elapsedSince } from '../shared/time';
import type { RunningTool } from './WorkInProgress';
import { MAX_TIMEOUT } from '../normalizer/normalizeTool';
import { errorMessage } from './toolResult';

/** Characters. */
const MAX_NOTE = 500;

export interface ToolCallHandle {
  /** Pending, or in the state in which another process left it. */
  readonly call: ToolCall;
  /** Fires when the run ends. */
  readonly signal: AbortSource;
  /** Receives every event of the call, in order, as it happens. */
  report(event: ToolEvent): void;
  /** Does it in the async context of the call's run. Absent outside of runs. */
  within?(work: () => void): void;
}

export class ToolCallOutcome implements AbortListener, DueListener, RunningTool {
  /** A person decided that the interrupted call runs again. */
  isRerunApproved = false;
  private open = true;
  private hasTimedOut = false;
  private hasBeenInterrupted = false;
  /** The timeout of a tool that runs in this process. */
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The timeout of a call that waits for others or a time. */
  private due: DueTime | undefined;
  private dueTimes: DueTimes | undefined;
  private timeoutMs: number | undefined;
  /** By `now()`; while the timeout pauses, the milliseconds that are left. */
  private timeoutEnd = 0;
  private isPaused = false;
  /** Created when the tool reads its signal. */
  private controller: AbortController | undefined;
  private readonly handle: ToolCallHandle;
  private onPrepared: (() => void) | undefined;
  private onDetached: (() => void) | undefined;
  /** Identical calls that take their outcome from this one. */
  private mirrors: readonly ToolCallOutcome[] | undefined;
  private settledCallbacks: readonly ((event: ToolEvent) => void)[] | undefined;

  /** @param onPrepared called once: by `prepared`, or when the call settles */
  constructor(handle: ToolCallHandle, onPrepared?: () => void) {
    this.handle = handle;
    this.onPrepared = onPrepared;
    if (handle.signal.aborted) this.handleEvent();
    else handle.signal.addEventListener('abort', this, { once: true });
  }

  /** The run has ended. */
  handleEvent(): void {
    this.end({
      type: 'tool:cancelled',
      at: Date.now(),
      error: { failure: 'cancelled', message: 'The run ended before the tool did.' },
    });
  }

  /** Calls back with the event that settles the call. Not to be called once it has settled. */
  onSettled(callback: (event: ToolEvent) => void): void {
    // Mostly one, and an array that was pushed to has room for many.
    this.settledCallbacks = this.settledCallbacks === undefined ? [callback] : [...this.settledCallbacks, callback];
  }

  /** The call was accepted, waits for a person, or has settled. */
  prepared(): void {
    this.onPrepared?.();
    this.onPrepared = undefined;
  }

  /** @param callback called once, if the tool is not to be waited for any more */
  onDetach(callback: () => void): void {
    this.onDetached = callback;
  }

  /** @param timeoutMs after the start of the call's first attempt @throws ToolError `threw` for no such time */
  detach(timeoutMs: number): void {
    if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT))
      throw new ToolError('threw', `"timeoutMs" of detach must be a number above 0 and at most ${MAX_TIMEOUT}.`);
    if (!this.open) return;
    const { call } = this.handle;
    const elapsedMs = 'startTime' in call && isExecuting(call) ? elapsedSince(call.startTime ?? 0) : 0;
    this.stopTimer();
    this.timeoutMs = undefined;
    this.startTimeout(timeoutMs, elapsedMs, this.dueTimes);
    if (call.blocking) this.handle.report({ type: 'tool:detached', at: Date.now() });
    this.onDetached?.();
    this.onDetached = undefined;
  }

  isOpen(): boolean {
    return this.open;
  }

  get isInterrupted(): boolean {
    return this.hasBeenInterrupted;
  }

  /**
   * Reports the start, unless another process has already started the call.
   * @param resultDueAt when a call of an external tool times out, in milliseconds since the epoch
   * @param at the present, if it was read before
   */
  markExecuting(resultDueAt?: number, at = Date.now()): void {
    const { call } = this.handle;
    const expiry = resultDueAt === undefined ? {} : { expiresAt: resultDueAt };
    if (!isExecuting(call) || this.isRerunApproved) this.handle.report({ type: 'tool:executing', at, ...expiry });
    else if (resultDueAt !== undefined && waitOf(call) === undefined)
      this.handle.report({ type: 'tool:awaiting_result', at, expiresAt: resultDueAt });
  }

  /**
   * @param elapsedMs how much of the timeout has already passed
   * @param dueTimes what a call that waits for others takes instead of a timer
   */
  startTimeout(timeoutMs: number, elapsedMs = 0, dueTimes?: DueTimes): void {
    // The tool may have been detached already.
    if (this.timeoutMs !== undefined) return;
    this.dueTimes = dueTimes;
    this.timeoutMs = timeoutMs;
    this.timeoutEnd = Math.max(0, timeoutMs - elapsedMs);
    if (!this.isPaused) this.resumeTimeout();
  }

  /** A tool that waits for a person does not time out. */
  pauseTimeout(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    if (this.timeoutMs === undefined) return;
    this.stopTimer();
    this.timeoutEnd -= this.now();
  }

  resumeTimeout(): void {
    this.isPaused = false;
    if (this.timeoutMs === undefined || !this.open) return;
    const delay = Math.max(0, this.timeoutEnd);
    this.timeoutEnd += this.now();
    if (this.dueTimes === undefined) this.timer = setTimeout(endByTimeout, delay, this, this.timeoutMs);
    else this.due = this.dueTimes.add(this.timeoutEnd, this);
  }

  /** @param time in milliseconds since the epoch; the call completes at once if it has passed */
  completeAt(time: number, dueTimes: DueTimes): void {
    if (time > Date.now()) this.due = dueTimes.add(time, this);
    else this.completeNow();
  }

  /** The time for which the call waits has come. */
  onDue(): void {
    const { timeoutMs } = this;
    const end = (): void => (timeoutMs === undefined ? this.completeNow() : this.timeOut(timeoutMs));
    if (this.handle.within === undefined) end();
    else this.handle.within(end);
  }

  private completeNow(): void {
    this.complete(`It is ${new Date().toISOString()}.`);
  }

  /** A wait for others is shown with a time of day, by which it ends; a tool's work is measured. */
  private now(): number {
    return this.dueTimes === undefined ? performance.now() : Date.now();
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.due?.cancel();
    this.due = undefined;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (!this.open) this.abortTool();
    return this.controller.signal;
  }

  /** Settles as the other call does. */
  mirror(other: ToolCallOutcome): void {
    this.markExecuting();
    other.mirrors = [...(other.mirrors ?? []), this];
    other.onSettled((event) => this.end(event));
  }

  progress(fraction: number, note: string | undefined): void {
    if (!this.open || !Number.isFinite(fraction)) return;
    const clamped = Math.min(1, Math.max(0, fraction));
    this.handle.report({
      type: 'tool:progress',
      at: Date.now(),
      fraction: clamped,
      ...(typeof note === 'string' ? { note: note.slice(0, MAX_NOTE) } : {}),
    });
  }

  complete(result: string, images: readonly InputImage[] = []): void {
    const shown = images.length === 0 ? {} : { images };
    if (this.open) this.end({ type: 'tool:completed', at: Date.now(), result, ...shown });
    else if (this.hasTimedOut) this.handle.report({ type: 'tool:late', at: Date.now(), result });
  }

  /**
   * Asks the tool to stop, because the process shuts down. A result that it still returns counts. Otherwise the call
   * stays as it is, for the next process to decide on, unless the tool says that it had no effect.
   */
  interrupt(): void {
    this.hasBeenInterrupted = true;
    this.abortTool();
  }

  fail(thrown: unknown): void {
    if (this.hasBeenInterrupted) {
      this.endInterrupted(thrown);
      return;
    }
    const failure: ToolFailure = thrown instanceof ToolError ? thrown.failure : 'threw';
    const message = errorMessage(thrown);
    if (this.open) this.end({ type: 'tool:failed', at: Date.now(), error: { failure, message } });
    else if (this.hasTimedOut) this.handle.report({ type: 'tool:late', at: Date.now(), result: `failed: ${message}` });
  }

  timeOut(timeoutMs: number): void {
    this.hasTimedOut = true;
    const message = `The tool "${this.handle.call.name}" timed out after ${timeoutMs} ms.`;
    this.end({ type: 'tool:timeout', at: Date.now(), error: { failure: 'timeout', message } });
  }

  /** The call settles when the run is given up: until then, the run must not go on. */
  private endInterrupted(thrown: unknown): void {
    if (!this.open) return;
    this.stopTimer();
    if (thrown instanceof ToolError && thrown.failure === 'interrupted')
      this.handle.report({ type: 'tool:interrupted', at: Date.now() });
    for (const mirror of this.mirrors ?? []) mirror.endInterrupted(thrown);
  }

  private end(event: ToolEvent): void {
    if (!this.open) return;
    this.open = false;
    this.stopTimer();
    this.handle.signal.removeEventListener('abort', this);
    this.handle.report(event);
    for (const callback of this.settledCallbacks ?? []) callback(event);
    this.settledCallbacks = undefined;
    this.onDetached = undefined;
    this.prepared();
    if (event.type !== 'tool:completed') this.abortTool();
  }

  private abortTool(): void {
    const { call, signal } = this.handle;
    const goesOn = this.hasBeenInterrupted || signal.isHandedOver === true;
    this.controller?.abort(
      goesOn
        ? new ToolError('interrupted', `The process that runs "${call.name}" shuts down.`)
        : new ToolError('cancelled', `The call to "${call.name}" is over.`),
    );
  }
}

/** One function for all calls, so that a call that runs holds no closure for its timer. */
function endByTimeout(outcome: ToolCallOutcome, timeoutMs: number): void {
  outcome.timeOut(timeoutMs);
}
