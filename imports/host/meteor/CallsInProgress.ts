/** Tracks calls of methods, so that a shutdown can wait for them. */
type Method = (...args: never[]) => Promise<unknown>;

const UNANSWERED = new Promise<never>(() => undefined);

export class CallsInProgress {
  private readonly calls = new Set<Promise<unknown>>();
  private isHeld = false;

  /** @returns the same methods, tracked */
  track<T extends object>(methods: T): T {
    const tracked = Object.entries(methods as Readonly<Record<string, Method>>).map(([name, method]) => [
      name,
      (...args: never[]): Promise<unknown> => (this.isHeld ? UNANSWERED : this.add(method(...args))),
    ]);
    return Object.fromEntries(tracked) as T;
  }

  /** Answers no calls from now on: their clients repeat them when they have connected to another process. */
  hold(): void {
    this.isHeld = true;
  }

  /**
   * Resolves when the calls made so far have ended, or after that time in milliseconds.
   * @param hurry ends the time
   */
  async ended(timeoutMs: number, hurry?: AbortSignal): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
      if (hurry?.aborted === true) resolve();
      hurry?.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([Promise.allSettled(this.calls), timeout]);
    clearTimeout(timer);
  }

  private add(call: Promise<unknown>): Promise<unknown> {
    this.calls.add(call);
    const remove = (): void => void this.calls.delete(call);
    call.then(remove, remove);
    return call;
  }
}
