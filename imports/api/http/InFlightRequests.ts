/** What is being answered, so that a server that stops lets it finish. */
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

  /** @param controller stops the work when the server can wait no longer */
  enter(controller: AbortController): void {
    this.running.add(controller);
  }

  leave(controller: AbortController): void {
    this.running.delete(controller);
    if (this.running.size === 0) this.whenIdle?.();
  }

  /**
   * Resolves when nothing runs any more.
   * @param grace milliseconds after which what still runs is aborted
   */
  close(grace: number): Promise<void> {
    this.closing ??= this.wait(grace);
    return this.closing;
  }

  private async wait(grace: number): Promise<void> {
    if (this.running.size === 0) return;
    const timer = setTimeout(() => {
      for (const controller of this.running) controller.abort(new LLMOverloadedError('the server is shutting down'));
    }, grace);
    await new Promise<void>((resolve) => {
      this.whenIdle = resolve;
    });
    clearTimeout(timer);
  }
}
