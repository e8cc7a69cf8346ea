/**
 * What the tool calls of one run share: semaphores, pacers, and the calls that are open. Non-blocking calls have a
 * semaphore of their own, so that long ones never delay a turn.
 */
import { runsAtOnce } from '../../../domain/run/runLimits';
import type { Budget } from '../../../domain/types/RunLimits';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { Pacer } from './Pacer';
import type { ToolCallOutcome } from './ToolCallOutcome';

export class ToolConcurrency {
  /** Paces the starts of calls, whose arguments are checked first. */
  readonly starts = new Pacer();
  /** Paces the starts of the tools' own code. */
  readonly executions = new Pacer();
  private readonly maxParallelTools: number;
  private blockingSemaphore: Semaphore | undefined;
  private nonBlockingSemaphore: Semaphore | undefined;
  private sequentialSemaphore: Semaphore | undefined;
  private childSemaphore: Semaphore | undefined;
  private calls: Map<string, ToolCallOutcome> | undefined;

  constructor(maxParallelTools: number) {
    this.maxParallelTools = maxParallelTools;
  }

  get blocking(): Semaphore {
    this.blockingSemaphore ??= new Semaphore(this.maxParallelTools);
    return this.blockingSemaphore;
  }

  get nonBlocking(): Semaphore {
    this.nonBlockingSemaphore ??= new Semaphore(this.maxParallelTools);
    return this.nonBlockingSemaphore;
  }

  get sequential(): Semaphore {
    this.sequentialSemaphore ??= new Semaphore(1);
    return this.sequentialSemaphore;
  }

  /** @param budget of the run whose calls start others */
  children(budget: Budget | undefined): Semaphore {
    this.childSemaphore ??= new Semaphore(
      runsAtOnce(omitUndefined({ budget, maxParallelTools: this.maxParallelTools })),
    );
    return this.childSemaphore;
  }

  /** Open calls by tool and arguments, of tools that restrict duplicates. */
  get openCalls(): Map<string, ToolCallOutcome> {
    this.calls ??= new Map();
    return this.calls;
  }
}

/** Grants permits in the order of arrival. Allocates its queue lazily, because many runs never need one. */
export class Semaphore {
  private permits: number;
  private waiting: (() => void)[] | undefined;

  constructor(permits: number) {
    this.permits = permits;
  }

  /** @returns undefined if there was a permit; otherwise resolves when there is one */
  acquire(): Promise<void> | undefined {
    if (this.permits === 0) return this.turn();
    this.permits -= 1;
    return undefined;
  }

  release(): void {
    // The permit passes directly to the next in line.
    const next = this.waiting?.shift();
    if (next === undefined) this.permits += 1;
    else next();
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting ??= [];
      this.waiting.push(resolve);
    });
  }
}

/** @returns undefined if all have a permit, and the work may begin; otherwise resolves when it may */
export function takeTurn(semaphores: readonly Semaphore[], executions: Pacer, from = 0): Promise<void> | undefined {
  const semaphore = semaphores[from];
  if (semaphore === undefined) return executions.begin();
  const turn = semaphore.acquire();
  if (turn === undefined) return takeTurn(semaphores, executions, from + 1);
  return turn.then(() => takeTurn(semaphores, executions, from + 1));
}
