/**
 * Leaves what a run has read and written to the store while it waits for long, so that it costs memory only while it is
 * at work: its transcript, and the results that the model has received. All of it is read again before the run goes on.
 */
import type { StoredRun } from '../../../../domain/interfaces/RunStore';
import { adoptInput, adoptItem, withOwnOptions } from '../../ContentNormalizer';
import { throughOutages } from '../../shared/throughOutages';
import type { RunEvent } from '../../../../domain/run/RunEvent';
import type { RunCompactor } from '../compaction/RunCompactor';
import type { RunContext } from '../RunContext';
import { LeaseLostError } from '../../../../domain/errors/LeaseLostError';
import type { RunEventTarget } from '../RunEventTarget';
import type { RunStoreWriter } from './RunStoreWriter';

export class StoredContent {
  private readonly context: RunContext;
  private readonly writer: RunStoreWriter;
  private readonly compactor: Pick<RunCompactor, 'unload' | 'load'>;
  private readonly target: Pick<RunEventTarget, 'dispatch'>;
  private readonly inputLength: number;
  /** By `performance.now()`. */
  private restingSince: number | undefined;
  private loading: Promise<void> | undefined;

  constructor(
    context: RunContext,
    writer: RunStoreWriter,
    compactor: Pick<RunCompactor, 'unload' | 'load'>,
    target: Pick<RunEventTarget, 'dispatch'>,
  ) {
    this.context = context;
    this.writer = writer;
    this.compactor = compactor;
    this.target = target;
    this.inputLength = context.options.input.length;
  }

  /** Unloads the content of a run that has rested for a lease. @param isAtRest whether only others are awaited */
  heartbeat(isAtRest: boolean): void {
    const { run } = this.context;
    if (run.current.transcript === undefined) return;
    if (!isAtRest) {
      this.restingSince = undefined;
      return;
    }
    const now = performance.now();
    this.restingSince ??= now;
    if (now - this.restingSince < this.writer.leaseMs) return;
    if (this.writer.hasStoredAll) this.unload();
    // It reports its own failures, and the next heartbeat looks again.
    else this.writer.flush().catch(() => undefined);
  }

  /**
   * To be awaited before the run goes on, or ends.
   * @returns undefined if nothing is missing
   * @throws LeaseLostError if the content cannot be read: whoever recovers the run decides what becomes of it
   */
  load(): Promise<void> | undefined {
    this.restingSince = undefined;
    if (this.context.run.current.transcript !== undefined) return undefined;
    this.loading ??= this.read().finally(() => (this.loading = undefined));
    return this.loading;
  }

  private unload(): void {
    const { context } = this;
    this.replace({ type: 'contentUnloaded' });
    context.restored = undefined;
    context.options = withOwnOptions(context.options, { input: [] });
    this.compactor.unload();
  }

  private replace(event: RunEvent): void {
    const before = this.context.run.current;
    this.target.dispatch(event);
    this.writer.rebase(before);
  }

  private async read(): Promise<void> {
    const { run, calls } = await this.stored();
    const { context } = this;
    const transcript = run.transcript.map((item) => adoptItem(item));
    this.replace({ type: 'contentLoaded', transcript, calls });
    context.options = withOwnOptions(context.options, { input: adoptInput(transcript.slice(0, this.inputLength)) });
    this.compactor.load();
  }

  private async stored(): Promise<StoredRun> {
    const { writer } = this;
    const { executionId } = writer.lease;
    let stored: StoredRun | undefined;
    try {
      stored = await throughOutages(
        () => writer.store.load(executionId),
        () => !writer.isStopped,
      );
    } catch (cause) {
      throw new LeaseLostError('The run cannot be read from the store. It continues once it can.', { cause });
    }
    // Nobody else has written to it.
    if (stored !== undefined && stored.run.owner === writer.lease.owner && !writer.isStopped) return stored;
    throw new LeaseLostError('The run continues in another process.');
  }
}
