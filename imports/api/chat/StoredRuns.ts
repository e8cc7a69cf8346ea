/**
 * Runs as the store has them, for those who follow them. What other processes have changed is asked for with one query
 * for all runs that are quiet, however many are followed, and only what has changed is read.
 */
import { isStoreOutage } from '../../business/ai/domain/errors/LLMErrors';
import type { RunStore, StoredRun } from '../../business/ai/domain/interfaces/RunStore';
import type { AgenticLoop } from '../../business/ai/application/services/AgenticLoop';
import { runDetached } from '../../business/ai/application/services/shared/runDetached';

export interface StoredRunsPorts {
  readonly runs: Pick<RunStore, 'load' | 'versions'>;
  readonly loop: { readonly local: Pick<AgenticLoop['local'], 'has'> };
  /** Milliseconds without events after which the store is asked about a run, at most. Default: 1,000. */
  readonly pollInterval?: number;
}

interface Wait {
  readonly executionId: string;
  readonly version: string | undefined;
  readonly onChange: () => void;
  /** Nothing has been heard of the run since the query before. */
  isQuiet: boolean;
}

const DEFAULT_POLL_INTERVAL_MS = 1_000;
/** After so many milliseconds without an answer, the store is asked again. */
const UNANSWERED_MS = 30_000;
/** How many runs one query asks for; those beyond take turns. */
const MAX_PER_POLL = 1_000;

export class StoredRuns {
  private readonly ports: StoredRunsPorts;
  private readonly waits = new Set<Wait>();
  private timer: ReturnType<typeof setInterval> | undefined;
  /** When the store was asked what it has not answered yet. Undefined: it has answered everything. */
  private askedAt: number | undefined;

  constructor(ports: StoredRunsPorts) {
    this.ports = ports;
  }

  load(executionId: string): Promise<StoredRun | undefined> {
    return this.ports.runs.load(executionId);
  }

  /**
   * Waits for a change of a run that this process does not execute.
   * @param version as it was read. Undefined: the store did not have the run
   * @returns ends the waiting
   */
  onChange(executionId: string, version: string | undefined, onChange: () => void): () => void {
    const wait = { executionId, version, onChange, isQuiet: false };
    this.waits.add(wait);
    const { pollInterval = DEFAULT_POLL_INTERVAL_MS } = this.ports;
    this.timer ??= runDetached(() => setInterval(() => void this.poll(), pollInterval / 2));
    return () => {
      this.waits.delete(wait);
      if (this.waits.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private async poll(): Promise<void> {
    // A slow store is not asked twice at the same time.
    if (this.askedAt !== undefined && performance.now() - this.askedAt < UNANSWERED_MS) return;
    const { runs, loop } = this.ports;
    const asked = new Map<string, Wait[]>();
    for (const wait of [...this.waits]) {
      const { executionId, isQuiet } = wait;
      wait.isQuiet = true;
      if (!isQuiet || loop.local.has(executionId)) continue;
      const others = asked.get(executionId);
      if (others === undefined && asked.size >= MAX_PER_POLL) continue;
      asked.set(executionId, [...(others ?? []), wait]);
      this.waits.delete(wait);
      this.waits.add(wait);
    }
    if (asked.size === 0) return;
    const askedAt = performance.now();
    this.askedAt = askedAt;
    let found: ReadonlyMap<string, string> | undefined;
    try {
      found = await runs.versions([...asked.keys()]);
    } catch (error) {
      if (isStoreOutage(error)) return;
      // Who reads a run then is told why it cannot be read.
    } finally {
      if (this.askedAt === askedAt) this.askedAt = undefined;
    }
    for (const wait of [...asked.values()].flat())
      if (this.waits.has(wait) && (found === undefined || found.get(wait.executionId) !== wait.version))
        wait.onChange();
  }
}
