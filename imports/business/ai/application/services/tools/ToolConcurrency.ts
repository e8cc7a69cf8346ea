/**
 * What the tool calls of one run share: semaphores, and the calls that are open. Non-blocking calls have a semaphore
 * of their own, so that long ones never delay a turn.
 */
import type { ToolCallOutcome } from './ToolCallOutcome';

export class ToolConcurrency {
  readonly blocking: Semaphore;
  readonly nonBlocking: Semaphore;
  readonly sequential = new Semaphore(1);
  private calls: Map<string, ToolCallOutcome> | undefined;

  constructor(maxParallelTools: number) {
    this.blocking = new Semaphore(maxParallelTools);
    this.nonBlocking = new Semaphore(maxParallelTools);
  }

  /** Open calls by tool and arguments, of tools that restrict duplicates. */
  get openCalls(): Map<string, ToolCallOutcome> {
    this.calls ??= new Map();
    return this.calls;
  }
}

/** Grants permits in the order of arrival. Allocates its queue lazily, because many runs never need one. */
class Semaphore {
  private permits: number;
  private waiting: (() => void)[] | undefined;

  constructor(permits: number) {
    this.permits = permits;
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    if (this.permits > 0) this.permits -= 1;
    else await this.turn();
    try {
      await work();
    } finally {
      // The permit passes directly to the next in line.
      const next = this.waiting?.shift();
      if (next === undefined) this.permits += 1;
      else next();
    }
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting ??= [];
      this.waiting.push(resolve);
    });
  }
}
