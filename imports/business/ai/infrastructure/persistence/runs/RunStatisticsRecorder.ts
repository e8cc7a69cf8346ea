/**
 * Counts each run in its current state, by the events that change it. The run's document records the state under which
 * it was counted last.
 */
import { consoleLogger } from '../../../../../log/consoleLogger';
import type { RunState } from '../../../domain/entities/Run';
import type { DocumentCollection } from '../../../../../database/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { AgentEvent, AgentEventType } from '../../../domain/types/AgentEvents';
import type { RunStatistics } from './RunStatistics';
import type { RunDocument } from './runDocuments';

/** `counted` is never published. */
type CountedRunDocument = RunDocument & { readonly counted?: RunState };

const STATES: Partial<Record<AgentEventType, RunState>> = {
  'run:started': 'running',
  'run:completed': 'completed',
  'run:failed': 'failed',
  'run:cancelled': 'cancelled',
};

export interface RunStatisticsRecorderDependencies {
  readonly runs: DocumentCollection<CountedRunDocument>;
  readonly counts: RunStatistics;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export class RunStatisticsRecorder {
  private readonly dependencies: RunStatisticsRecorderDependencies;
  /** The last update in progress, by run. */
  private readonly pendingCounts = new Map<string, Promise<void>>();

  constructor(dependencies: RunStatisticsRecorderDependencies) {
    this.dependencies = dependencies;
  }

  readonly record = ({ type, executionId }: AgentEvent): void => {
    const state = STATES[type];
    if (state === undefined) return;
    const done = (this.pendingCounts.get(executionId) ?? Promise.resolve())
      .then(() => this.count(executionId, state))
      .catch((error: unknown) =>
        (this.dependencies.logger ?? consoleLogger).warn(`Could not count the run ${executionId}.`, error),
      )
      .finally(() => {
        if (this.pendingCounts.get(executionId) === done) this.pendingCounts.delete(executionId);
      });
    this.pendingCounts.set(executionId, done);
  };

  /** Waits for pending updates. */
  async close(): Promise<void> {
    await Promise.all(this.pendingCounts.values());
  }

  private async count(executionId: string, state: RunState): Promise<void> {
    const { runs, counts } = this.dependencies;
    const run = await runs.findOne(
      { _id: executionId },
      { fields: { userId: 1, providerId: 1, createdAt: 1, counted: 1 } },
    );
    // Runs started by the server's own code may have no document.
    if (run === undefined || run.counted === state) return;
    const before = run.counted ?? { $exists: false };
    // If another process counted the run in the meantime, nothing is left to do.
    if ((await runs.update({ _id: executionId, counted: before }, { $set: { counted: state } })) === 0) return;
    await counts.move(run, run.counted, state);
    if ((await runs.findOne({ _id: executionId }, { fields: { _id: 1 } })) === undefined)
      await counts.discard(run, run.counted === undefined ? [state] : [run.counted, state]);
  }
}
