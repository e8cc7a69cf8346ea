/** Tracks the requests in progress, so that a shutdown can wait for them. */
import { LLMOverloadedError } from '../../business/ai/domain/errors/LLMErrors';

export class InFlightRequests {
  private readonly running = new Set<AbortController>();
  private closing: Promise<void> | undefined;
  private whenIdle: (() => void) | undefined;

  get isClosing(): boolean {
    return this.closing !== undefined;
  }

  get size(): number {
    return this.running.size;
  }

  /** @param controller aborts the request when the grace period ends */
  enter(controller: AbortController): void {
    this.running.add(controller);
  }

  leave(controller: AbortController): void {
    this.running.delete(controller);
    if (this.running.size === 0) this.whenIdle?.();
  }

  /**
   * Resolves when no request is in progress.
   * @param graceMs requests that take longer are aborted
   */
  close(graceMs: number): Promise<void> {
    this.closing ??= this.wait(graceMs);
    return this.closing;
  }

  private async wait(graceMs: number): Promise<void> {
    if (this.running.size === 0) return;
    const timer = setTimeout(() => {
      for (const controller of this.running) controller.abort(new LLMOverloadedError('The server is shutting down.'));
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.whenIdle = resolve;
    });
    clearTimeout(timer);
  }
}
