/**
 * A run's way to the store. What has changed is written one document after another, in the order in which they
 * first changed, each as it is by then; `durable` is the barrier before anything that can't be taken back. A store
 * that fails is asked again for as long as a lease lasts.
 */
import { isFinished } from '../../../../domain/entities/Run';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { isLLMError, LLMAbortedError } from '../../../../domain/errors/LLMErrors';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunLease, RunProgress } from '../../../../domain/types/RunRecords';

/** The run belongs to somebody else now, or nobody can be told that it is still ours. It goes on elsewhere. */
export class LeaseLostError extends LLMAbortedError {}

export type RunEnd = Pick<RunProgress, 'endedAt' | 'error'>;

/** What a journal reads at the moment of writing. */
export interface SnapshotSource {
  /** Without its end, which `finish` is told. */
  progress(): RunProgress;
  call(id: string): ToolCall;
}

export interface RunJournalContext {
  readonly store: RunStore;
  readonly lease: RunLease;
  readonly subject: SnapshotSource;
  /** Calls that the store has. */
  readonly stored: Iterable<string>;
  /** What was said stays as the store has it: it was not read. */
  readonly keepsTranscript?: boolean;
  /** Milliseconds for which a store that fails is asked again. */
  readonly retryForMs: number;
  /** Whether nobody can have taken the run since it was last known to be ours. */
  readonly isLeaseCurrent: () => boolean;
  /** Told once what ended the journal: a LeaseLostError, or what the store refuses for good. */
  readonly onBroken: (error: unknown) => void;
}

const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 2_000;
/** Stands for the run among the ids of its calls, none of which is empty. */
const RUN = '';

export class RunJournal {
  private readonly parts: RunJournalContext;
  private readonly stored: Set<string>;
  private readonly queued = new Set<string>();
  private readonly stale = new Set<string>();
  private runIsChanged = false;
  private reason: RunEnd['error'];
  private reasonIsNew = false;
  private end: RunEnd | undefined;
  private isBroken = false;
  private tail: Promise<void> = Promise.resolve();
  /** What the store has of the fields that are long. */
  private savedItems = -1;
  private savedResponse: unknown;

  constructor(parts: RunJournalContext) {
    this.parts = parts;
    this.stored = new Set(parts.stored);
    if (parts.keepsTranscript === true) this.savedItems = Infinity;
  }

  /** Written at the next barrier, or before the next call that changes. */
  runChanged(): void {
    this.runIsChanged = true;
  }

  callChanged(id: string): void {
    this.stale.delete(id);
    this.enqueueRun();
    this.enqueue(id);
  }

  /** Written with the next heartbeat. */
  callProgressed(id: string): void {
    this.stale.add(id);
  }

  heartbeat(): void {
    for (const id of this.stale) this.callChanged(id);
  }

  /**
   * The run is about to end with that error: it is known before what that does to its calls, so that whoever takes
   * the run over ends it too.
   */
  recordEndIntent(error: NonNullable<RunEnd['error']>): void {
    this.reason = error;
    this.reasonIsNew = true;
  }

  /** Nothing more is written; what is being written may still be. */
  stop(): void {
    this.isBroken = true;
  }

  /**
   * Resolves when everything that has changed so far is in the store. @throws LeaseLostError; LLMError for what the
   * store refuses
   */
  flush(): Promise<void> {
    this.enqueueRun();
    return this.tail;
  }

  /**
   * The same; and if this process was stopped for a while, it still has the run. For before a tool is run or a
   * model is called. @throws as `durable` does
   */
  async flushAndVerifyLease(): Promise<void> {
    await this.flush();
    if (!this.parts.isLeaseCurrent()) await this.verifyLease();
  }

  /** Looks whether the run is still ours. @throws as `durable` does */
  verifyLease(): Promise<void> {
    this.runChanged();
    return this.flush();
  }

  /**
   * Resolves when everything is written down of a run that has ended: its calls first, and its end in one last
   * write. @throws LeaseLostError
   */
  async finish(end: RunEnd): Promise<void> {
    try {
      await this.tail;
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.writeRemaining();
    }
    this.end = end;
    await this.write(RUN);
  }

  /**
   * The store refuses something that the run did, its transcript most likely; it can still be told of the calls,
   * and that the run is over.
   */
  private async writeRemaining(): Promise<void> {
    const left = [...this.queued];
    this.queued.clear();
    this.isBroken = false;
    this.savedItems = Infinity;
    this.savedResponse = this.parts.subject.progress().response;
    for (const id of left) if (id !== RUN) await this.write(id).catch(() => undefined);
    this.isBroken = false;
    this.tail = Promise.resolve();
  }

  private enqueueRun(): void {
    if (!this.runIsChanged) return;
    this.runIsChanged = false;
    this.enqueue(RUN);
  }

  private enqueue(key: string): void {
    if (this.queued.has(key)) return;
    this.queued.add(key);
    if (this.isBroken) return;
    // Never in the middle of a change: what is changed together is changed without a break, and this runs after it.
    this.tail = this.tail.then(async () => {
      this.queued.delete(key);
      if (this.reasonIsNew) await this.write(RUN);
      await this.write(key);
    });
    // Whoever waits at the next barrier is told; `onBroken` has told everybody else.
    this.tail.catch(() => undefined);
  }

  private async write(key: string): Promise<void> {
    for (let pause = FIRST_PAUSE, waited = 0; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      if (this.isBroken) throw new LeaseLostError('The run goes on in another process.');
      try {
        if (await this.attempt(key)) return;
      } catch (error) {
        if (isLLMError(error) && error.code === 'invalid-request') throw this.broken(error);
        if (waited >= this.parts.retryForMs)
          throw this.broken(
            new LeaseLostError('The store of runs cannot be written to; the run goes on when it can.', {
              cause: error,
            }),
          );
        waited += pause;
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      throw this.broken(new LeaseLostError('The run goes on in another process.'));
    }
  }

  private attempt(key: string): Promise<boolean> {
    return key === RUN ? this.saveRun() : this.saveCall(key);
  }

  private async saveRun(): Promise<boolean> {
    const { store, lease, subject } = this.parts;
    const { transcript, response, state, ...moved } = subject.progress();
    const isEnding = this.end !== undefined;
    const { reason } = this;
    const isSaved = await store.saveRun(lease, {
      // A run's end is its last write.
      ...(isEnding || !isFinished(state) ? { state } : {}),
      ...moved,
      ...(reason === undefined ? {} : { error: reason }),
      ...this.end,
      ...(transcript.length <= this.savedItems ? {} : { transcript }),
      ...(response === undefined || response === this.savedResponse ? {} : { response }),
    });
    this.savedItems = Math.max(this.savedItems, transcript.length);
    this.savedResponse = response;
    if (reason === this.reason) this.reasonIsNew = false;
    return isSaved || (isEnding && (await this.hasEnded()));
  }

  /** The last write may have been made although its answer was lost. */
  private async hasEnded(): Promise<boolean> {
    const { store, lease } = this.parts;
    const whole = await store.load(lease.executionId);
    return whole !== undefined && whole.run.fence === lease.fence && isFinished(whole.run.state);
  }

  private async saveCall(id: string): Promise<boolean> {
    const { store, lease, subject } = this.parts;
    const call = subject.call(id);
    if (this.stored.has(id)) return store.saveCall(lease, call);
    const isAdded = await store.addCall(lease, call);
    this.stored.add(id);
    return isAdded;
  }

  private broken(error: unknown): unknown {
    if (!this.isBroken) {
      this.isBroken = true;
      this.parts.onBroken(error);
    }
    return error;
  }
}
