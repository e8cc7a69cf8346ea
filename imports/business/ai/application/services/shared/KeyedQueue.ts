/** Runs tasks with the same key one after another, in order of arrival, and tasks with different keys concurrently. */

export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Keys with running or waiting tasks. */
  get size(): number {
    return this.last.size;
  }

  /**
   * Runs the task once all earlier tasks of the key have settled.
   * @param signal removes the task from the queue while it waits; a running task must observe the signal itself
   * @throws whatever the task throws, or `signal.reason` if it never started
   */
  run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.last.get(key);
    const outcome = before === undefined ? start(task, signal) : startAfter(before, task, signal);
    const turn = Promise.allSettled(before === undefined ? [outcome] : [before, outcome]).then(() => {
      if (this.last.get(key) === turn) this.last.delete(key);
    });
    this.last.set(key, turn);
    return outcome;
  }
}

async function start<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  return task();
}

async function startAfter<T>(
  before: Promise<unknown>,
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  let stopWaiting: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (stopWaiting = resolve));
  signal?.addEventListener('abort', stopWaiting, { once: true });
  await Promise.race([before, aborted]);
  signal?.removeEventListener('abort', stopWaiting);
  return start(task, signal);
}
