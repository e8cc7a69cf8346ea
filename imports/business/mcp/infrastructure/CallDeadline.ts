/** The time limit of one request, which pauses while a person is waited for. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The signal of the call that is being sent. It limits the response stream in place of a timeout. */
export const sendingSignal = new AsyncLocalStorage<AbortSignal>();

export class CallDeadline {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private remainingMs: number;
  private startedAt = 0;
  private pauses = 0;

  /** @param timeoutMs after which the signal aborts */
  constructor(timeoutMs: number) {
    this.remainingMs = timeoutMs;
    this.start();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  pause(): void {
    this.pauses += 1;
    if (this.pauses > 1) return;
    clearTimeout(this.timer);
    this.remainingMs -= performance.now() - this.startedAt;
  }

  resume(): void {
    this.pauses -= 1;
    if (this.pauses === 0) this.start();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private start(): void {
    this.startedAt = performance.now();
    const expire = (): void => this.controller.abort(new Error('Request timed out'));
    this.timer = setTimeout(expire, Math.max(0, this.remainingMs));
  }
}
