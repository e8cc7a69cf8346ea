/**
 * Counts each run once in the state that it is in, from the events that move it; the run's own document remembers
 * how it was counted last.
 */
import type { RunState } from '../../../domain/entities/Run';
import type { DocumentCollection } from '../../../domain/interfaces/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { AgentEvent, AgentEventType } from '../../../domain/types/AgentEvents';
import type { RunStatistics } from './RunStatistics';
import type { RunDocument } from './runDocuments';

/** Published nowhere. */
type CountedDocument = RunDocument & { readonly counted?: RunState };

const STATES: Partial<Record<AgentEventType, RunState>> = {
  'run:started': 'running',
  'run:completed': 'completed',
  'run:failed': 'failed',
  'run:cancelled': 'cancelled',
};

export interface StateCounterPorts {
  readonly runs: DocumentCollection<CountedDocument>;
  readonly counts: RunStatistics;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export class RunStatisticsRecorder {
  private readonly ports: StateCounterPorts;
  /** Counting under way, by run: one after another. */
  private readonly counting = new Map<string, Promise<void>>();

  constructor(ports: StateCounterPorts) {
    this.ports = ports;
  }

  readonly take = ({ type, executionId }: AgentEvent): void => {
    const state = STATES[type];
    if (state === undefined) return;
    const done = (this.counting.get(executionId) ?? Promise.resolve())
      .then(() => this.count(executionId, state))
      .catch((error: unknown) =>
        (this.ports.logger ?? console).warn(`the run ${executionId} could not be counted`, error),
      )
      .finally(() => {
        if (this.counting.get(executionId) === done) this.counting.delete(executionId);
      });
    this.counting.set(executionId, done);
  };

  /** Waits for what is being counted. */
  async close(): Promise<void> {
    await Promise.all(this.counting.values());
  }

  private async count(executionId: string, state: RunState): Promise<void> {
    const { runs, counts } = this.ports;
    const run = await runs.findOne(
      { _id: executionId },
      { fields: { userId: 1, providerId: 1, createdAt: 1, counted: 1 } },
    );
    // Runs of the server's own code may have no document.
    if (run === undefined || run.counted === state) return;
    const before = run.counted ?? { $exists: false };
    // Another process that counted it meanwhile has counted it right.
    if ((await runs.update({ _id: executionId, counted: before }, { $set: { counted: state } })) === 1)
      await counts.move(run, run.counted, state);
  }
}
