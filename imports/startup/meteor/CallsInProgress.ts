/** Tracks calls of methods, so that a shutdown can wait for them. */
type Method = (...args: never[]) => Promise<unknown>;

export class CallsInProgress {
  private readonly calls = new Set<Promise<unknown>>();

  /** @returns the same methods, tracked */
  track<T extends object>(methods: T): T {
    const tracked = Object.entries(methods as Readonly<Record<string, Method>>).map(([name, method]) => [
      name,
      (...args: never[]): Promise<unknown> => this.add(method(...args)),
    ]);
    return Object.fromEntries(tracked) as T;
  }

  /** Resolves when the calls made so far have ended, or after that time in milliseconds. */
  async ended(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
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
