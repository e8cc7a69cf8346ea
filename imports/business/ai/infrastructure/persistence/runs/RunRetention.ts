/**
 * The one sweeper of the store: runs that ended a while ago are made small, those that ended long ago are removed.
 * Live text, commands, budgets and signs of life have dates of their own, by which the database removes them
 * itself.
 */
import type { DocumentCollection, Selector } from '../../../domain/interfaces/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import { compactCall, compactRun } from '../compactRun';
import type { DocumentDatabase } from '../databases/DocumentDatabase';
import { RUNS, TOOL_CALLS } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';

/** Milliseconds after a run's end. */
export interface RetentionTimes {
  readonly keepWhole: number;
  readonly keep: number;
}

export interface RunRetentionOptions {
  readonly times?: Partial<RetentionTimes>;
  /** Milliseconds between two sweeps; default: an hour. */
  readonly every?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface Swept {
  readonly compacted: number;
  readonly removed: number;
}

const DAY = 86_400_000;
export const DEFAULT_RETENTION: RetentionTimes = { keepWhole: 7 * DAY, keep: 30 * DAY };
const HOUR = 3_600_000;
/** Runs that are looked at together. */
const BATCH = 50;

type SweptRun = RunDocument & { readonly compactedAt?: number };

export class RunRetention {
  private readonly runs: DocumentCollection<SweptRun>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly times: RetentionTimes;
  private readonly options: RunRetentionOptions;
  private readonly now: () => number;
  private timer: ReturnType<typeof setInterval> | undefined;
  private underWay: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(database: DocumentDatabase, options: RunRetentionOptions = {}) {
    this.runs = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
    this.times = { ...DEFAULT_RETENTION, ...options.times };
    this.options = options;
    this.now = options.now ?? Date.now;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.runs.ensureIndex({ endedAt: 1 });
  }

  /** Sweeps now and from time to time; several processes may, each takes what is there. */
  start(): void {
    this.isStopped = false;
    const sweep = (): void => {
      this.underWay = this.underWay
        .then(() => this.sweep())
        .then(
          () => undefined,
          (error: unknown) => (this.options.logger ?? console).error('old runs could not be swept', error),
        );
    };
    sweep();
    this.timer = setInterval(sweep, this.options.every ?? HOUR);
    this.timer.unref();
  }

  /** Resolves when a sweep that is under way has stopped. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.underWay;
  }

  async sweep(): Promise<Swept> {
    const now = this.now();
    const removed = await this.each({ endedAt: { $lt: now - this.times.keep } }, (runs) => this.remove(runs));
    const compacted = await this.each(
      { endedAt: { $lt: now - this.times.keepWhole }, compactedAt: { $exists: false } },
      (runs) => this.compact(runs, now),
    );
    return { compacted, removed };
  }

  /** Every batch leaves nothing that the selector finds again. */
  private async each(selector: Selector, work: (runs: readonly SweptRun[]) => Promise<void>): Promise<number> {
    let count = 0;
    for (;;) {
      const runs = await this.runs.find(selector, {
        sort: { endedAt: 1 },
        limit: BATCH,
        fields: { input: 1, response: 1 },
      });
      if (runs.length === 0 || this.isStopped) return count;
      await work(runs);
      count += runs.length;
    }
  }

  /** Calls first: a sweep that breaks off finds the run again. */
  private async remove(runs: readonly SweptRun[]): Promise<void> {
    const ids = runs.map(({ _id }) => _id);
    await this.calls.remove({ executionId: { $in: ids } });
    await this.runs.remove({ _id: { $in: ids } });
  }

  private async compact(runs: readonly SweptRun[], now: number): Promise<void> {
    for (const run of runs) {
      for (const call of await this.calls.find({ executionId: run._id }))
        await this.calls.update({ _id: call._id }, { $set: compactCall(call) });
      await this.runs.update({ _id: run._id }, { $set: { ...compactRun(run), compactedAt: now } });
    }
  }
}
