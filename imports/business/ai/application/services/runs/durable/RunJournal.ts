/**
 * Writes a run to the store. Changed documents are written one after another, in the order of their first change, each
 * with its state at the moment of writing. `flush` is the barrier before every effect that cannot be undone. A failing
 * store is retried for as long as a lease lasts.
 */
import { isFinished } from '../../../../domain/entities/Run';
import type { RunState } from '../../../../domain/entities/Run';
import type { ToolCall, ToolCallState } from '../../../../domain/entities/Tool';
import { isLLMError, LLMAbortedError } from '../../../../domain/errors/LLMErrors';
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { JournalContext } from '../RunContext';

/** The run has another owner, or the store cannot be reached to prove that it has not. The run continues elsewhere. */
export class LeaseLostError extends LLMAbortedError {}

export type RunEnd = Pick<RunProgress, 'endedAt' | 'error'>;

/** What a run's journal asks, at the moment of writing, and tells. */
export interface JournalOwner {
  /** Without the run's end, which is passed to `finish`. Its transcript is the live one, which grows. */
  progress(): RunProgress;
  getCall(id: string): ToolCall;
  /** Called once, with the error that ended the journal: a LeaseLostError, or what the store refuses permanently. */
  onBroken(error: unknown): void;
}

const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 2_000;
/** The key of the run among the ids of its calls, none of which is empty. */
const RUN_KEY = '';

export class RunJournal {
  private readonly context: JournalContext;
  private readonly owner: JournalOwner;
  /** Keys of the documents that wait to be written. */
  private queue: Set<string> | undefined;
  /** Calls with progress that is not written yet. */
  private progressed: Set<string> | undefined;
  private isRunChanged = false;
  private endIntent: RunEnd['error'];
  private isEndIntentUnsaved = false;
  private finalWrite: RunEnd | undefined;
  private isBroken = false;
  /** The last write; rejects if the journal is broken. */
  private tail: Promise<void> = Promise.resolve();
  /** How many items of the transcript, and which response, the store has. */
  private savedItems = -1;
  private savedResponse: unknown;
  /** The states of what the store has, by the keys of the documents; undefined if another process wrote it. */
  private readonly saved = new Map<string, RunState | ToolCallState | undefined>();

  /** @param storedCalls ids of the calls that the store already has */
  constructor(context: JournalContext, owner: JournalOwner, storedCalls: readonly string[]) {
    this.context = context;
    this.owner = owner;
    for (const id of storedCalls) this.saved.set(id, undefined);
    if (context.keepsTranscript === true) this.savedItems = Infinity;
  }

  /** The run is written at the next barrier, or before the next changed call. */
  runChanged(): void {
    this.isRunChanged = true;
  }

  callChanged(id: string): void {
    this.progressed?.delete(id);
    this.enqueueRun();
    this.enqueue(id);
  }

  /** The call is written with the next heartbeat. */
  callProgressed(id: string): void {
    this.progressed ??= new Set();
    this.progressed.add(id);
  }

  heartbeat(): void {
    for (const id of this.progressed ?? []) this.callChanged(id);
    this.progressed = undefined;
  }

  /**
   * Records that the run is about to end with this error. It is written before the changes that the end makes to the
   * calls, so that a process that takes the run over ends it likewise.
   */
  recordEndIntent(error: NonNullable<RunEnd['error']>): void {
    this.endIntent = error;
    this.isEndIntentUnsaved = true;
  }

  /** Starts no further write. A write that is in progress may still succeed. */
  stop(): void {
    this.isBroken = true;
  }

  /**
   * Resolves when every change so far is in the store.
   * @throws LeaseLostError, or the LLMError with which the store refuses a write
   */
  flush(): Promise<void> {
    this.enqueueRun();
    return this.tail;
  }

  /**
   * Resolves when the changes of calls so far are in the store, without a write of the run itself.
   * @throws as `flush` does
   */
  callsStored(): Promise<void> {
    return this.tail;
  }

  /**
   * Flushes, and makes sure that this process still owns the run even if it was suspended meanwhile. To be called
   * before a tool is run or a model is called.
   * @throws as `flush` does
   */
  async flushAndVerifyLease(): Promise<void> {
    await this.flush();
    if (!this.context.runs.isLeaseCurrent()) await this.verifyLease();
  }

  /**
   * Verifies with a write that this process still owns the run.
   * @throws as `flush` does
   */
  verifyLease(): Promise<void> {
    this.runChanged();
    return this.flush();
  }

  /**
   * Records the end of the run: first all calls, then the end in one last write.
   * @throws LeaseLostError
   */
  async finish(end: RunEnd): Promise<void> {
    try {
      await this.tail;
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.writeRemaining();
    }
    this.finalWrite = end;
    await this.write(RUN_KEY);
  }

  /**
   * Writes what the store accepts after it refused something, most likely the transcript: the calls, and later the
   * run without its transcript and response.
   */
  private async writeRemaining(): Promise<void> {
    const remaining = this.queue ?? [];
    this.queue = undefined;
    this.isBroken = false;
    this.savedItems = Infinity;
    this.savedResponse = this.owner.progress().response;
    for (const key of remaining) if (key !== RUN_KEY) await this.write(key).catch(() => undefined);
    this.isBroken = false;
    this.tail = Promise.resolve();
  }

  private enqueueRun(): void {
    if (!this.isRunChanged) return;
    this.isRunChanged = false;
    this.enqueue(RUN_KEY);
  }

  private enqueue(key: string): void {
    this.queue ??= new Set();
    if (this.queue.has(key)) return;
    this.queue.add(key);
    if (this.isBroken) return;
    // The write runs in a later microtask: changes that are made together, without an await, are written together.
    this.tail = this.tail.then(async () => {
      this.queue?.delete(key);
      if (this.queue?.size === 0) this.queue = undefined;
      if (this.isEndIntentUnsaved) await this.write(RUN_KEY);
      await this.write(key);
    });
    // The next barrier rejects with the error; all others were notified by `onBroken`.
    this.tail.catch(() => undefined);
  }

  private async write(key: string): Promise<void> {
    for (let delay = FIRST_RETRY_MS, waited = 0; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      if (this.isBroken) throw new LeaseLostError('The run continues in another process.');
      try {
        if (await this.attempt(key)) return;
      } catch (error) {
        if (isLLMError(error) && error.code === 'invalid-request') throw this.markBroken(error);
        if (waited >= this.context.runs.retryForMs)
          throw this.markBroken(
            new LeaseLostError('The run store cannot be written to. The run continues once it can.', {
              cause: error,
            }),
          );
        waited += delay;
        await new Promise((resolve) => setTimeout(resolve, delay));
        continue;
      }
      throw this.markBroken(new LeaseLostError('The run continues in another process.'));
    }
  }

  private attempt(key: string): Promise<boolean> {
    return key === RUN_KEY ? this.saveRun() : this.saveCall(key);
  }

  private async saveRun(): Promise<boolean> {
    const { runs, lease } = this.context;
    const { transcript, response, state, ...progress } = this.owner.progress();
    // The transcript may grow while it is written.
    const { length } = transcript;
    const isEnding = this.finalWrite !== undefined;
    const { endIntent } = this;
    const isSaved = await runs.store.saveRun(lease, {
      // The final state is written by the last write only.
      ...(isEnding || !isFinished(state) ? { state } : {}),
      ...progress,
      ...(endIntent === undefined ? {} : { error: endIntent }),
      ...this.finalWrite,
      ...(length <= this.savedItems ? {} : { transcript: [...transcript] }),
      ...(response === undefined || response === this.savedResponse ? {} : { response }),
    });
    this.savedItems = Math.max(this.savedItems, length);
    this.savedResponse = response;
    if (endIntent === this.endIntent) this.isEndIntentUnsaved = false;
    if (isSaved && (isEnding || !isFinished(state))) this.stateStored(RUN_KEY, state);
    return isSaved || (isEnding && (await this.hasEnded()));
  }

  /** An earlier attempt at the last write may have succeeded although its response was lost. */
  private async hasEnded(): Promise<boolean> {
    const { runs, lease } = this.context;
    const stored = await runs.store.load(lease.executionId);
    return stored !== undefined && stored.run.fence === lease.fence && isFinished(stored.run.state);
  }

  private async saveCall(id: string): Promise<boolean> {
    const { runs, lease } = this.context;
    const call = this.owner.getCall(id);
    // The call may change while it is written.
    const { state } = call;
    const isSaved = await (this.saved.has(id) ? runs.store.saveCall(lease, call) : runs.store.addCall(lease, call));
    if (!this.saved.has(id)) this.saved.set(id, undefined);
    if (isSaved) this.stateStored(id, state);
    return isSaved;
  }

  private stateStored(key: string, state: RunState | ToolCallState): void {
    if (this.saved.get(key) === state) return;
    this.saved.set(key, state);
    this.context.runs.stateStored(this.context.lease.userId);
  }

  /** Marks the journal as broken, once, and returns the error for the caller to throw. */
  private markBroken(error: unknown): unknown {
    if (!this.isBroken) {
      this.isBroken = true;
      this.owner.onBroken(error);
    }
    return error;
  }
}
