/**
 * Writes a run to the store, in batches. A batch is the difference between the run's present state and the one that was
 * written last: one write of the run, which records its open calls with it, followed by one write of the calls
 * themselves. The first is the barrier before every effect that cannot be undone; a call is never stored before the
 * transcript that it is in. A failing store is retried for as long as a lease lasts, and one that cannot be reached
 * until it can.
 */
import { isFinished } from '../../../../domain/entities/Run';
import type { RunState } from '../../../../domain/entities/Run';
import { isSettled } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { isLLMError, isStoreOutage } from '../../../../domain/errors/LLMErrors';
import { LeaseLostError } from '../../../../domain/errors/LeaseLostError';
import type { RunObserver } from '../../../../domain/interfaces/Instrumentation';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { ActiveRun } from '../../../../domain/run/ActiveRun';
import { CallTable } from '../../../../domain/run/CallTable';
import type { RunLease, RunProgress } from '../../../../domain/types/RunRecords';
import type { Writable } from '../../../../domain/types/Writable';
import { runDetached } from '../../shared/runDetached';
import type { JournalContext, RunContext } from '../RunContext';
import { reclaimLease } from './reclaimLease';
import { runProgress } from './runProgress';
import { changedCalls, isRunChanged } from './stateChanges';

export type RunEnd = Pick<RunProgress, 'endedAt' | 'error'>;

/** The run that is written. */
export interface WriterOwner {
  readonly state: ActiveRun;
  /** Milliseconds that count against the deadline. */
  readonly worked: number;
  /** Called once, with the error that ended the writing: a LeaseLostError, or what the store refuses permanently. */
  onBroken(error: unknown): void;
  /** Called when a write finds that the store cannot be reached, and when the store has answered again. */
  onStoreOutage(isOut: boolean): void;
}

/** What a writer needs of its run besides. */
export type WrittenRun = Pick<RunContext, 'restored' | 'missingTools' | 'changedTools' | 'toolHashes'> & {
  readonly observer?: Pick<RunObserver, 'write'> | undefined;
};

const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 2_000;

export class RunStoreWriter {
  private readonly context: JournalContext;
  private readonly owner: WriterOwner;
  private readonly about: Pick<WrittenRun, 'missingTools' | 'changedTools' | 'toolHashes'>;
  private readonly observer: WrittenRun['observer'];
  private held: RunLease;
  /** Writes whose outcome is unknown may take effect late; see `reclaimLease`. */
  private hasLostWrite = false;
  private reclaiming: Promise<boolean> | undefined;
  /** The state that the last write of the run has stored, with the open calls as they are recorded with it. */
  private written: ActiveRun;
  /** The calls as the last write of calls has stored them. */
  private writtenCalls: CallTable;
  /** Ids of the calls that are recorded with the run. */
  private readonly recordedIds: Set<string>;
  /** How many items of the transcript the store has. */
  private writtenItems: number;
  /** The transcript, the response and the compaction are not written: the store has them, or refuses them. */
  private keepsContent: boolean;
  /** The state of which people were told last. Undefined: another process has told them. */
  private toldState: RunState | undefined;
  /** The run is written even if nothing has changed. */
  private isForced: boolean;
  /** The next write of calls includes their progress. */
  private includesProgress = false;
  /** The run has ended, and the last write will record it. */
  private isClosing = false;
  private finalWrite: (RunEnd & { readonly sent: number }) | undefined;
  /** The last write was refused, because the run was sent a message before. */
  private isAddressed = false;
  private isBroken = false;
  private isScheduled = false;
  /** How many are in progress. */
  private writes = 0;
  /** A batch will be written that includes all changes so far. */
  private isQueued = false;
  /** Settles when the stored count of takeovers is cleared. */
  private clearing: Promise<unknown> | undefined;
  /** The last write of the run, and the last of calls; both reject if the writer is broken. */
  private runTail: Promise<void> = Promise.resolve();
  private callsTail: Promise<void> = this.runTail;
  /** The barrier that waits for the last write of the run. */
  private barrier: { readonly tail: Promise<void>; readonly passed: Promise<void> } | undefined;

  constructor(context: JournalContext, owner: WriterOwner, run: WrittenRun) {
    const { restored, missingTools, changedTools, toolHashes, observer } = run;
    const { state } = owner;
    this.context = context;
    this.owner = owner;
    this.about = { missingTools, changedTools, toolHashes };
    this.observer = observer;
    this.held = context.lease;
    this.keepsContent = context.keepsTranscript === true;
    this.writtenItems = context.storedItems;
    this.isForced = restored !== undefined && !isAsStored(run);
    // What was repaired, or is stored only with the run, is written again.
    const unwritten = new Set([...(restored?.repaired ?? []), ...(restored?.unwritten ?? [])]);
    this.writtenCalls = CallTable.of([...state.calls].filter(({ id }) => !unwritten.has(id)));
    // A new run is stored as running, without what it has from an earlier one.
    const stored =
      restored === undefined
        ? ({ status: 'running', compaction: undefined } as const)
        : { status: restored.storedState };
    this.written = { ...state, ...stored, calls: this.writtenCalls };
    this.recordedIds = new Set(restored?.recorded?.withRun);
    if (unwritten.size > 0) this.schedule();
  }

  get store(): RunStore {
    return this.context.runs.store;
  }

  /** How long a lease lasts, in milliseconds. */
  get leaseMs(): number {
    return this.context.runs.leaseMs;
  }

  /** Whether writes wait for the end of an outage of the store. */
  get isInOutage(): boolean {
    return this.hasLostWrite;
  }

  /** Whether nothing more is written. */
  get isStopped(): boolean {
    return this.isBroken;
  }

  /** Whether the store has the run as it is, with its whole transcript, and no write is in progress. */
  get hasStoredAll(): boolean {
    const { transcript } = this.owner.state;
    const isEnding = this.isBroken || this.finalWrite !== undefined;
    const areItemsWritten = transcript === undefined || this.writtenItems === transcript.length;
    return !isEnding && !this.isWriting && areItemsWritten && !this.hasChanged && this.changes(true).length === 0;
  }

  /** Whether the store may still count the run's takeovers. */
  get isSuspected(): boolean {
    return this.written.takeovers > 0 || this.isWriting;
  }

  /** The present claim of this process to the run. */
  get lease(): RunLease {
    return this.held;
  }

  private get isWriting(): boolean {
    return this.isQueued || this.writes > 0 || this.clearing !== undefined;
  }

  /** Whether the next batch has anything to write. */
  private get hasChanged(): boolean {
    return this.isForced || isRunChanged(this.written, this.owner.state) || this.haveCallsChanged;
  }

  private get haveCallsChanged(): boolean {
    return this.changes().length > 0 || this.openChanges(this.owner.state).length > 0;
  }

  /** Content was unloaded, or loaded again, which leaves the run as it is. @param before the state before */
  rebase(before: ActiveRun): void {
    const { state } = this.owner;
    const rebased = (call: ToolCall): ToolCall =>
      before.calls.get(call.id) === call ? (state.calls.get(call.id) ?? call) : call;
    const { written } = this;
    const transcript = written.transcript === before.transcript ? state.transcript : written.transcript;
    this.written = { ...written, transcript, calls: written.calls.map(rebased) };
    this.writtenCalls = this.writtenCalls.map(rebased);
  }

  /** Writes what has changed when the present tasks of the process are done. */
  schedule(): void {
    if (this.isScheduled || this.isBroken) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.start();
    });
  }

  /** The run has made progress for the first time since it was taken over, which is written at once. */
  takeoversCleared(): void {
    const { written } = this;
    this.written = { ...written, takeovers: 0 };
    const isChanged = this.isForced || isRunChanged(this.written, this.owner.state);
    if (!isChanged && !this.isWriting && !this.isBroken && !this.hasLostWrite)
      this.clearing = this.context.runs.clearTakeovers(this.lease).then(
        () => (this.clearing = undefined),
        () => {
          this.clearing = undefined;
          this.writeTakeovers();
        },
      );
    else this.writeTakeovers();
  }

  private writeTakeovers(): void {
    this.isForced = true;
    // A failure is reported through `onBroken`.
    this.flush().catch(() => undefined);
  }

  heartbeat(): void {
    if (this.owner.state.rules.durability === 'end') return;
    if (this.changes(true).length === 0) return;
    this.includesProgress = true;
    this.schedule();
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
    this.start();
    return this.clearing === undefined ? this.callsTail : this.clearing.then(() => this.callsTail);
  }

  /** Whether the store has what the call waits for. */
  hasStored({ id }: ToolCall): boolean {
    return !this.openChanges(this.owner.state).some((call) => call.id === id);
  }

  /**
   * Resolves when the changes of calls so far are in the store.
   * @throws as `flush` does
   */
  callsStored(): Promise<void> {
    if (this.haveCallsChanged) this.start();
    return this.callsTail;
  }

  /**
   * To be called before the model is called.
   * @returns as `flushAndVerifyLease` does; undefined if there is nothing to wait for
   */
  beforeModelCall(): Promise<void> | undefined {
    return this.owner.state.rules.durability === 'step' ? this.flushAndVerifyLease() : this.verifyOwnership();
  }

  /** To be called before a tool is run. @returns as `beforeModelCall` does */
  beforeTool(isReadOnly: boolean): Promise<void> | undefined {
    const isForgettable = this.owner.state.rules.durability === 'end' && isReadOnly;
    return isForgettable ? this.verifyOwnership() : this.flushAndVerifyLease();
  }

  /** What is not stored by now would be lost anyway; whether another process has the run must be known. */
  private verifyOwnership(): Promise<void> | undefined {
    if (!this.isBroken && this.context.runs.isLeaseCurrent()) return undefined;
    return this.flushAndVerifyLease();
  }

  /**
   * Resolves when the run and its open calls are in the store, and makes sure that this process still owns the run even
   * if it was suspended meanwhile. To be called before an effect.
   * @throws as `flush` does
   */
  flushAndVerifyLease(): Promise<void> {
    this.start();
    // The calls of a turn wait for one barrier together.
    if (this.barrier?.tail !== this.runTail) {
      const tail = this.runTail;
      this.barrier = { tail, passed: this.pass(tail) };
    }
    return this.barrier.passed;
  }

  private async pass(tail: Promise<void>): Promise<void> {
    try {
      await tail;
    } finally {
      // Later callers must verify the lease anew.
      if (this.barrier?.tail === tail) this.barrier = undefined;
    }
    // Calls that could not be written break the writer, too.
    if (this.isBroken) throw new LeaseLostError('The run continues in another process.');
    // A verification during which the process was suspended says nothing about the present.
    while (!this.context.runs.isLeaseCurrent()) {
      const startedAt = performance.now();
      await this.verifyLease();
      if (performance.now() - startedAt < this.leaseMs) return;
    }
  }

  /**
   * Verifies with a write that this process still owns the run.
   * @throws as `flush` does
   */
  verifyLease(): Promise<void> {
    this.isForced = true;
    this.start();
    return this.runTail;
  }

  /**
   * Records the end of the run: first all calls, then the end in one last write.
   * @returns false if the run was sent a message before, and goes on
   * @throws LeaseLostError
   */
  async finish(end: RunEnd): Promise<boolean> {
    const { sent } = this.owner.state;
    const { recordedIds, writtenCalls } = this;
    try {
      // The last write records the run itself, but a new call must not be stored before the transcript that it is in.
      const hasNewCall = this.changes().some(({ id }) => !writtenCalls.has(id) && !recordedIds.has(id));
      this.isClosing = !hasNewCall;
      await this.flush();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.writeRemaining();
    }
    this.finalWrite = { ...end, sent };
    await this.write(() => this.saveRun());
    if (!this.isAddressed) return true;
    this.isAddressed = false;
    this.isClosing = false;
    this.finalWrite = undefined;
    return false;
  }

  /**
   * Writes what the store accepts after it refused something, most likely the transcript: the calls, and later the
   * run without its transcript and response.
   */
  private async writeRemaining(): Promise<void> {
    this.isBroken = false;
    this.keepsContent = true;
    for (const call of this.changes()) await this.write(() => this.saveCalls([call])).catch(() => undefined);
    this.isBroken = false;
    this.runTail = Promise.resolve();
    this.callsTail = this.runTail;
  }

  /** Queues a batch. It takes the changes in a later microtask, so that those made without an await are together. */
  private start(): void {
    if (this.isBroken || this.isQueued || !this.hasChanged) return;
    this.isQueued = true;
    // The request of a person who decides about a call must not wait for what else the run writes.
    runDetached(() => {
      this.runTail = this.writeRun(this.runTail);
      this.callsTail = this.writeCalls(this.callsTail, this.runTail);
      // The next barrier rejects with the error; all others were notified by `onBroken`.
      this.runTail.catch(() => undefined);
      this.callsTail.catch(() => undefined);
    });
  }

  private async writeRun(previous: Promise<void>): Promise<void> {
    await previous;
    this.isQueued = false;
    const { state } = this.owner;
    const isChanged = this.isForced || isRunChanged(this.written, state) || this.openChanges(state).length > 0;
    this.isForced = false;
    // What the last write will record is not written before it, unless it must come before the calls.
    const isLeft = this.isClosing && state.error === this.written.error;
    if (isChanged && !isLeft) await this.write(() => this.saveRun());
  }

  /** @param run the write of the run in the same batch */
  private async writeCalls(previous: Promise<void>, run: Promise<void>): Promise<void> {
    await previous;
    await run;
    const ids = this.changes().flatMap(({ id }) => {
      // The transcript of calls that were recorded meanwhile is not stored yet.
      const isRecorded = this.written.calls.has(id) || this.recordedIds.has(id);
      return isRecorded ? [id] : [];
    });
    this.includesProgress = false;
    if (ids.length === 0) return;
    await this.write(async () => {
      if (this.isErrorUnwritten) await this.errorStored();
      const calls = ids.flatMap((id) => this.owner.state.calls.get(id) ?? []);
      return !this.isBroken && (await this.saveCalls(calls));
    });
  }

  /** Calls are written as they are by then: one that the end has cancelled must not be stored before the end is. */
  private async errorStored(): Promise<void> {
    while (this.isErrorUnwritten && !this.isBroken) {
      this.start();
      await this.runTail;
    }
  }

  private get isErrorUnwritten(): boolean {
    return this.owner.state.error !== this.written.error;
  }

  private async write(attempt: () => Promise<boolean>): Promise<void> {
    this.writes += 1;
    try {
      for (let delay = FIRST_RETRY_MS, waited = 0; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
        if (this.isBroken) throw new LeaseLostError('The run continues in another process.');
        try {
          const isOwner = !this.hasLostWrite || (await this.reclaim());
          const { lease } = this;
          // The run may have been given up meanwhile, and nothing of how that leaves it must be stored.
          if (this.isStopped) continue;
          if (isOwner && (await (this.observer === undefined ? attempt() : this.observer.write(attempt)))) return;
          // Another write has claimed the run again in the meantime.
          if (lease !== this.lease) continue;
        } catch (error) {
          if (isLLMError(error) && error.code === 'invalid-request') throw this.markBroken(error);
          if (isStoreOutage(error)) {
            // Whether the run has another owner by now, the store says when it answers again.
            this.onOutage();
            await new Promise((resolve) => setTimeout(resolve, delay));
            continue;
          }
          if (waited >= this.leaseMs)
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
    } finally {
      this.writes -= 1;
    }
  }

  private onOutage(): void {
    if (this.hasLostWrite) return;
    this.hasLostWrite = true;
    this.owner.onStoreOutage(true);
  }

  /** @returns false if the run has another owner, unless it ended with the last write of this writer */
  private reclaim(): Promise<boolean> {
    this.reclaiming ??= this.claimAgain().finally(() => (this.reclaiming = undefined));
    return this.reclaiming;
  }

  private async claimAgain(): Promise<boolean> {
    const lease = await reclaimLease(this.store, this.lease);
    // The last write may have succeeded although its response was lost.
    if (lease === undefined && (this.finalWrite === undefined || !(await this.hasEnded()))) return false;
    this.held = lease ?? this.lease;
    this.hasLostWrite = false;
    this.owner.onStoreOutage(false);
    return true;
  }

  private async saveRun(): Promise<boolean> {
    const { lease, finalWrite, written } = this;
    const { state } = this.owner;
    const isEnding = finalWrite !== undefined;
    const changed = isEnding ? [] : this.openChanges(state);
    const settled = this.storedAsSettled();
    const change = this.changeTo(state);
    // Messages leave the queue with the write of the transcript that they are in.
    const delivered = this.keepsContent ? [] : state.delivered.slice(isEnding ? 0 : written.delivered.length);
    const items = { stored: this.keptItems, input: state.rules.inputLength };
    const seen = { delivered, sent: finalWrite?.sent ?? state.sent };
    const isSaved = await this.store.saveRun(lease, change, { changed, settled }, items, seen);
    if (isSaved === 'addressed') {
      this.isAddressed = true;
      return true;
    }
    // If another write has claimed the run again meanwhile, all of this is written again.
    if (!isSaved) return isEnding && (await this.hasEnded());
    for (const { id } of changed) this.recordedIds.add(id);
    for (const id of settled) this.recordedIds.delete(id);
    this.written = state;
    if (state.transcript !== undefined) this.writtenItems = Math.max(this.writtenItems, state.transcript.length);
    // The final state is written by the last write only.
    if (isEnding || !isFinished(state.status)) this.tell(state.status);
    return true;
  }

  /** How many items of the transcript need not be written. */
  private get keptItems(): number {
    return this.keepsContent ? Infinity : this.writtenItems;
  }

  private changeTo(state: ActiveRun): Partial<RunProgress> {
    const { finalWrite, written, keepsContent } = this;
    const { transcript, response, compaction, error } = state;
    const progress = runProgress(state, {
      ...this.about,
      worked: this.owner.worked,
      startedAt: this.context.startedAt,
    });
    const change: Writable<Partial<RunProgress>> =
      finalWrite !== undefined || !isFinished(state.status) ? progress : withoutState(progress);
    // A process that takes the run over ends it likewise. It is written before the changes that the end makes to calls.
    if (error !== undefined) change.error = { code: error.code, message: error.message };
    if (finalWrite !== undefined) {
      const { sent: _, ...end } = finalWrite;
      Object.assign(change, end);
    }
    if (keepsContent) return change;
    // The last write has all of it, so that the store can put it together.
    if (transcript !== undefined && (transcript.length > this.writtenItems || finalWrite !== undefined))
      change.transcript = transcript;
    if (response !== undefined && response !== written.response) change.response = response;
    if (compaction !== undefined && compaction !== written.compaction) change.compaction = compaction;
    return change;
  }

  /** Calls that the next write of calls has to store. */
  private changes(includesProgress = this.includesProgress): readonly ToolCall[] {
    return changedCalls(this.writtenCalls, this.owner.state.calls, includesProgress);
  }

  /** Calls that the next write of the run records with it. */
  private openChanges(state: ActiveRun): readonly ToolCall[] {
    return changedCalls(this.written.calls, state.calls, false).filter((call) => !isSettled(call));
  }

  /** Ids of the calls that are recorded with the run although they are stored as settled. */
  private storedAsSettled(): readonly string[] {
    const ids: string[] = [];
    for (const id of this.recordedIds) {
      const call = this.writtenCalls.get(id);
      if (call !== undefined && isSettled(call)) ids.push(id);
    }
    return ids;
  }

  /** An earlier attempt at the last write may have succeeded although its response was lost. */
  private async hasEnded(): Promise<boolean> {
    const { lease } = this;
    const stored = await this.store.load(lease.executionId);
    return stored !== undefined && stored.run.fence === lease.fence && isFinished(stored.run.state);
  }

  private async saveCalls(calls: readonly ToolCall[]): Promise<boolean> {
    const isSaved = await this.store.saveCalls(this.lease, calls);
    if (!isSaved) return false;
    for (const call of calls) {
      const isNew = this.writtenCalls.get(call.id)?.state !== call.state;
      this.writtenCalls = this.writtenCalls.with(call);
      if (isNew) this.context.runs.stateStored(this.lease.userId);
    }
    return true;
  }

  private tell(state: RunState): void {
    if (this.toldState === state) return;
    this.toldState = state;
    this.context.runs.stateStored(this.lease.userId);
  }

  /** Marks the writer as broken, once, and returns the error for the caller to throw. */
  private markBroken(error: unknown): unknown {
    if (!this.isBroken) {
      this.isBroken = true;
      this.owner.onBroken(error);
    }
    return error;
  }
}

/** The run is as it was in the process that it was taken over from, and as the store has it. */
function isAsStored({ restored, missingTools, changedTools, toolHashes }: WrittenRun): boolean {
  if (restored?.recorded === undefined || restored.hasInterruptedModelCall || restored.repaired.length > 0)
    return false;
  return missingTools === undefined && changedTools === undefined && toolHashes === undefined;
}

function withoutState({ state: _, ...progress }: Partial<RunProgress>): Partial<RunProgress> {
  return progress;
}
