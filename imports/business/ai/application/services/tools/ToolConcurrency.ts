/**
 * What the tool calls of one run share: slots, and who is at work. Non-blocking calls have slots of their own, so
 * that long ones never hold up a turn.
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

  /** Unsettled calls by tool and arguments, for tools that don't allow duplicates. */
  get open(): Map<string, ToolCallOutcome> {
    this.calls ??= new Map();
    return this.calls;
  }
}

/**
 * So much work at once, in the order in which it came. A run that waits holds next to nothing for it, and there may
 * be many of them.
 */
class Semaphore {
  private free: number;
  private waiting: (() => void)[] | undefined;

  constructor(count: number) {
    this.free = count;
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await this.turn();
    try {
      await work();
    } finally {
      // Whoever is next takes the slot over.
      const next = this.waiting?.shift();
      if (next === undefined) this.free += 1;
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
