/** Tracks the requests in progress, so that a shutdown, or the deletion of their user's data, can end them. */
import { LLMAbortedError, LLMOverloadedError } from '../../business/ai/domain/errors/LLMErrors';

export class InFlightRequests {
  /** With the user's id, as soon as it is known. */
  private readonly running = new Map<AbortController, string | undefined>();
  private readonly onLeave = new Set<() => void>();
  private closing: Promise<void> | undefined;

  get isClosing(): boolean {
    return this.closing !== undefined;
  }

  get size(): number {
    return this.running.size;
  }

  /** @param controller aborts the request when the grace period ends, or when its user's requests are cancelled */
  enter(controller: AbortController, userId?: string): void {
    this.running.set(controller, userId);
  }

  /** Assigns a request to its authenticated user. */
  identify(controller: AbortController, userId: string): void {
    if (this.running.has(controller)) this.running.set(controller, userId);
  }

  leave(controller: AbortController): void {
    this.running.delete(controller);
    for (const notify of this.onLeave) notify();
  }

  /**
   * Cancels the user's requests. Resolves when they have ended.
   * @param patienceMs requests that take longer to end are not awaited
   */
  async cancelUser(userId: string, patienceMs: number): Promise<void> {
    const theirs = [...this.running].flatMap(([controller, owner]) => (owner === userId ? [controller] : []));
    for (const controller of theirs) controller.abort(new LLMAbortedError('The data of the user is being deleted.'));
    await this.until(() => !theirs.some((controller) => this.running.has(controller)), patienceMs);
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
    const isIdle = (): boolean => this.running.size === 0;
    await this.until(isIdle, graceMs);
    for (const controller of this.running.keys())
      controller.abort(new LLMOverloadedError('The server is shutting down.'));
    await this.until(isIdle);
  }

  private async until(condition: () => boolean, limitMs?: number): Promise<void> {
    if (condition()) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let check = (): void => undefined;
    await new Promise<void>((resolve) => {
      check = () => {
        if (condition()) resolve();
      };
      this.onLeave.add(check);
      if (limitMs !== undefined) timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
    this.onLeave.delete(check);
  }
}
