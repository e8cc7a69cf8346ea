/** Work on one key in the order in which it came, work on different keys side by side. */

export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Keys that have work under way or waiting. */
  get size(): number {
    return this.last.size;
  }

  /**
   * Runs the work when everything that came before it on the same key has settled, well or not.
   * @param signal takes the work out of the queue while it waits; work that has begun has to look at it itself
   * @throws what the work throws, `signal.reason` when it never began
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.last.get(key);
    const outcome = before === undefined ? begin(work, signal) : inTurn(before, work, signal);
    const turn = Promise.allSettled(before === undefined ? [outcome] : [before, outcome]).then(() => {
      if (this.last.get(key) === turn) this.last.delete(key);
    });
    this.last.set(key, turn);
    return outcome;
  }
}

async function begin<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  return work();
}

async function inTurn<T>(
  before: Promise<unknown>,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  let stopWaiting: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (stopWaiting = resolve));
  signal?.addEventListener('abort', stopWaiting, { once: true });
  await Promise.race([before, aborted]);
  signal?.removeEventListener('abort', stopWaiting);
  return begin(work, signal);
}
