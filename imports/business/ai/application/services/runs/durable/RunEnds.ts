/**
 * Waits for runs to end, whichever processes execute them: what ends in this process is known at once, and everything
 * else is asked for with one query per interval, however many runs are waited for.
 */
import { isStoreOutage } from '../../../../domain/errors/LLMErrors';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import { runDetached } from '../../shared/runDetached';

/** How many runs one query asks for; those beyond take turns. */
const MAX_PER_POLL = 1_000;

export class RunEnds {
  private readonly store: Pick<RunStore, 'unfinishedAmong'>;
  private readonly intervalMs: number;
  /** What each wait does when its run has ended, or the store says why that cannot be known. */
  private readonly waits = new Map<string, Set<(error?: Error) => void>>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private isPolling = false;

  constructor(store: Pick<RunStore, 'unfinishedAmong'>, intervalMs: number) {
    this.store = store;
    this.intervalMs = intervalMs;
  }

  /**
   * Resolves when the run has ended, or has been removed. Waits through outages of the store.
   * @param signal stops the waiting
   * @throws `signal.reason`; what else the store throws
   */
  async wait(executionId: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waits = this.waits.get(executionId) ?? new Set();
      const finish = (error?: Error): void => {
        signal?.removeEventListener('abort', onAbort);
        waits.delete(finish);
        if (waits.size === 0 && this.waits.get(executionId) === waits) this.waits.delete(executionId);
        if (this.waits.size === 0) this.stop();
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = (): void => finish();
      signal?.addEventListener('abort', onAbort);
      this.waits.set(executionId, waits.add(finish));
      this.schedule();
    });
    signal?.throwIfAborted();
  }

  /** A run has ended in this process. */
  ended(executionId: string, error?: Error): void {
    for (const finish of [...(this.waits.get(executionId) ?? [])]) finish(error);
  }

  private schedule(): void {
    // The timer keeps the process alive, since a caller awaits the result.
    this.timer ??= runDetached(() => setInterval(() => void this.poll(), this.intervalMs));
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async poll(): Promise<void> {
    // A slow store is not asked twice at the same time.
    if (this.isPolling) return;
    this.isPolling = true;
    const asked = [...this.waits].slice(0, MAX_PER_POLL);
    for (const [executionId, waits] of asked) {
      this.waits.delete(executionId);
      this.waits.set(executionId, waits);
    }
    const ids = asked.map(([executionId]) => executionId);
    try {
      const unfinished = new Set(await this.store.unfinishedAmong(ids));
      for (const executionId of ids) if (!unfinished.has(executionId)) this.ended(executionId);
    } catch (error) {
      const thrown = error instanceof Error ? error : new Error('The store failed.', { cause: error });
      if (!isStoreOutage(error)) for (const executionId of ids) this.ended(executionId, thrown);
    }
    this.isPolling = false;
  }
}
