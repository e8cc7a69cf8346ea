/** The runs of this process by their execution ids: live ones, and the latest that have finished. */
import type { LiveRun } from './LiveRun';
import type { RunInterpreter } from './RunInterpreter';

export interface RunEntry {
  readonly run: LiveRun;
  readonly interpreter: RunInterpreter;
}

export class RunRegistry {
  readonly live = new Map<string, RunEntry>();
  private readonly finished = new Map<string, LiveRun>();
  private readonly maxFinished: number;

  constructor(maxFinished: number) {
    this.maxFinished = maxFinished;
  }

  /** A live run, or one that finished lately. */
  find(executionId: string): LiveRun | undefined {
    return this.live.get(executionId)?.run ?? this.finished.get(executionId);
  }

  /** The runs that calls of this run have started. */
  childrenOf(parentId: string): readonly LiveRun[] {
    const known = [...this.finished.values(), ...Array.from(this.live.values(), ({ run }) => run)];
    return known.filter(({ parentExecutionId }) => parentExecutionId === parentId);
  }

  /** Drops a user's finished runs. */
  forget(userId: string): void {
    for (const [executionId, run] of this.finished) if (run.userId === userId) this.finished.delete(executionId);
  }

  /** Moves a run from the live ones to the finished ones, of which the oldest are dropped. */
  retire(run: LiveRun): void {
    this.live.delete(run.executionId);
    this.finished.set(run.executionId, run);
    for (const oldest of this.finished.keys()) {
      if (this.finished.size <= this.maxFinished) break;
      this.finished.delete(oldest);
    }
  }
}
