/**
 * Leaves what a run has read and written to the store while it waits for long, so that it costs memory only while it is
 * at work: its transcript, and the results that the model has received. All of it is read again before the run goes on.
 */
import type { StoredRun } from '../../../../domain/interfaces/RunStore';
import { adoptInput, adoptItem, withOwnOptions } from '../../ContentNormalizer';
import { throughOutages } from '../../shared/throughOutages';
import type { RunCompactor } from '../compaction/RunCompactor';
import type { RunContext } from '../RunContext';
import { LeaseLostError } from '../../../../domain/errors/LeaseLostError';
import type { RunJournal } from './RunJournal';

export class StoredContent {
  private readonly context: RunContext;
  private readonly journal: RunJournal;
  private readonly compactor: Pick<RunCompactor, 'unload' | 'load'>;
  private readonly inputLength: number;
  /** By `performance.now()`. */
  private restingSince: number | undefined;
  private loading: Promise<void> | undefined;

  constructor(context: RunContext, journal: RunJournal, compactor: Pick<RunCompactor, 'unload' | 'load'>) {
    this.context = context;
    this.journal = journal;
    this.compactor = compactor;
    this.inputLength = context.options.input.length;
  }

  /** Unloads the content of a run that has rested for a lease. @param isAtRest whether only others are awaited */
  heartbeat(isAtRest: boolean): void {
    const { run } = this.context;
    if (run.isUnloaded) return;
    if (!isAtRest) {
      this.restingSince = undefined;
      return;
    }
    const now = performance.now();
    this.restingSince ??= now;
    if (now - this.restingSince < this.journal.leaseMs) return;
    if (this.journal.hasStoredAll) this.unload();
    // It reports its own failures, and the next heartbeat looks again.
    else this.journal.flush().catch(() => undefined);
  }

  /**
   * To be awaited before the run goes on, or ends.
   * @returns undefined if nothing is missing
   * @throws LeaseLostError if the content cannot be read: whoever recovers the run decides what becomes of it
   */
  load(): Promise<void> | undefined {
    this.restingSince = undefined;
    if (!this.context.run.isUnloaded) return undefined;
    this.loading ??= this.read().finally(() => (this.loading = undefined));
    return this.loading;
  }

  private unload(): void {
    const { context } = this;
    context.run.unload();
    context.restored = undefined;
    context.options = withOwnOptions(context.options, { input: [] });
    this.compactor.unload();
  }

  private async read(): Promise<void> {
    const { run, calls } = await this.stored();
    const { context } = this;
    const transcript = run.transcript.map((item) => adoptItem(item));
    context.run.load(transcript, calls);
    context.options = withOwnOptions(context.options, { input: adoptInput(transcript.slice(0, this.inputLength)) });
    this.compactor.load();
  }

  private async stored(): Promise<StoredRun> {
    const { journal } = this;
    const { executionId } = journal.lease;
    let stored: StoredRun | undefined;
    try {
      stored = await throughOutages(
        () => journal.store.load(executionId),
        () => !journal.isStopped,
      );
    } catch (cause) {
      throw new LeaseLostError('The run cannot be read from the store. It continues once it can.', { cause });
    }
    // Nobody else has written to it.
    if (stored !== undefined && stored.run.owner === journal.lease.owner && !journal.isStopped) return stored;
    throw new LeaseLostError('The run continues in another process.');
  }
}
