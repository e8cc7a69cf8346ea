/** Runs of one process: all that are under way, and the last ones that have ended. */
import { ConflictError } from '../../domain/errors/LLMErrors';
import type { RunOutcome, RunRecord, RequestRecords } from '../../domain/interfaces/RequestRecords';

const DEFAULT_KEPT = 10_000;

export class MemoryRequestRecords implements RequestRecords {
  /** In the order in which they began or, once they have, ended. */
  private readonly runs = new Map<string, RunRecord>();
  private readonly kept: number;
  private ended = 0;

  /** @param kept how many ended runs can still be found */
  constructor(kept: number = DEFAULT_KEPT) {
    this.kept = kept;
  }

  create(run: RunRecord): Promise<void> {
    if (this.runs.has(run.executionId)) return Promise.reject(new ConflictError(`there is a run '${run.executionId}' already`));
    this.runs.set(run.executionId, run);
    return Promise.resolve();
  }

  finish(executionId: string, outcome: RunOutcome): Promise<void> {
    const run = this.runs.get(executionId);
    if (run !== undefined && run.outcome === undefined) {
      this.runs.delete(executionId);
      this.runs.set(executionId, { ...run, state: outcome.state, outcome });
      this.ended += 1;
      this.shrink();
    }
    return Promise.resolve();
  }

  find(userId: string, executionId: string): Promise<RunRecord | undefined> {
    const run = this.runs.get(executionId);
    return Promise.resolve(run?.userId === userId ? run : undefined);
  }

  private shrink(): void {
    for (const [executionId, { outcome }] of this.runs) {
      if (this.ended <= this.kept) return;
      if (outcome === undefined) continue;
      this.runs.delete(executionId);
      this.ended -= 1;
    }
  }
}
