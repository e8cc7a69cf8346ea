/**
 * Writes a run to the store, in batches: what changes while one batch is written goes out with the next. A batch is one
 * write of the run, which records its open calls with it, followed by one write of the calls themselves. The first is
 * the barrier before every effect that cannot be undone; a call is never stored before the transcript that it is in. A
 * failing store is retried for as long as a lease lasts, and one that cannot be reached until it can.
 */
import { isFinished } from '../../../../domain/entities/Run';
import type { RunState } from '../../../../domain/entities/Run';
import { isSettled, waitOf } from '../../../../domain/entities/Tool';
import type { ToolCall, ToolCallState } from '../../../../domain/entities/Tool';
import { isLLMError, isStoreOutage } from '../../../../domain/errors/LLMErrors';
import type { RunDurability, RunLease, RunProgress } from '../../../../domain/types/RunRecords';
import type { RecordedCalls, RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunObserver } from '../../../../domain/interfaces/Instrumentation';
import { runDetached } from '../../shared/runDetached';
import type { JournalContext } from '../RunContext';
import { LeaseLostError } from '../../../../domain/errors/LeaseLostError';
import { reclaimLease } from './reclaimLease';
import type { Writable } from '../../../../domain/types/Writable';

export type RunEnd = Pick<RunProgress, 'endedAt' | 'error'>;
/** What every write of the run records; transcript, response and compaction are written if they have changed. */
export type OwnProgress = Omit<RunProgress, 'transcript' | 'response' | 'compaction'>;
/** What a run's journal asks, at the moment of writing, and tells. */
export interface JournalOwner {
  /** A new object, without the run's end, which is passed to `finish`. */
  progress(): OwnProgress;
  /** The live transcript, which grows. */
  readonly transcript: RunProgress['transcript'];
  /** The last response. */
  readonly response: RunProgress['response'];
  readonly compaction: RunProgress['compaction'];
  getCall(id: string): ToolCall;
  /** Called once, with the error that ended the journal: a LeaseLostError, or what the store refuses permanently. */
  onBroken(error: unknown): void;
  /** Called when a write finds that the store cannot be reached, and when the store has answered again. */
  onStoreOutage(isOut: boolean): void;
}

export interface JournalOptions {
  /** Default: `step`. */
  readonly durability?: RunDurability;
  /** Calls of a run that another process has recorded. Absent: unknown, or none. */
  readonly recorded?: RecordedCalls | undefined;
}

const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 2_000;
/** The key of the run among the ids of its calls, none of which is empty. */
const RUN_KEY = '';
const NONE: ReadonlySet<string> = new Set();

export class RunJournal {
  private readonly context: JournalContext;
  private readonly owner: JournalOwner;
  private readonly durability: RunDurability;
  private readonly observer: Pick<RunObserver, 'write'> | undefined;
  private held: RunLease;
  /** Writes whose outcome is unknown may take effect late; see `reclaimLease`. */
  private hasLostWrite = false;
  private reclaiming: Promise<boolean> | undefined;
  private isRunChanged = false;
  /** Calls that have changed since the last write of the run … */
  private changed: Set<string> | undefined;
  /** … and those of which the calls' own write does not know yet. */
  private unsaved: Set<string> | undefined;
  /** Calls to be written now that the run is: the transcript that they are in is stored. */
  private due: Set<string> | undefined;
  /** Calls with progress that is not written yet. */
  private progressed: Set<string> | undefined;
  /** Calls that are recorded with the run, and whether they have been stored as settled since. */
  private open: Map<string, boolean> | undefined;
  private endIntent: RunEnd['error'];
  private isEndIntentUnsaved = false;
  private finalWrite: RunEnd | undefined;
  private isBroken = false;
  private isScheduled = false;
  /** How many are in progress. */
  private writes = 0;
  /** A batch will be written that includes all changes so far. */
  private isQueued = false;
  /** Settles when the stored count of takeovers is cleared. */
  private clearing: Promise<void> | undefined;
  /** The last write of the run, and the last of calls; both reject if the journal is broken. */
  private runTail: Promise<void> = Promise.resolve();
  private callsTail: Promise<void> = this.runTail;
  /** The barrier that waits for the last write of the run. */
  private barrier: { readonly tail: Promise<void>; readonly passed: Promise<void> } | undefined;
  /** How many items of the transcript, which response and which compaction the store has. */
  private savedItems: number;
  private savedResponse: unknown;
  private savedCompaction: unknown;
  /** The states of what the store has, by the keys of the documents; undefined if another process wrote it. */
  private readonly saved = new Map<string, RunState | ToolCallState | undefined>();

  /** @param storedCalls ids of the calls that the store already has */
  constructor(
    context: JournalContext,
    owner: JournalOwner,
    storedCalls: readonly string[],
    observer?: Pick<RunObserver, 'write'>,
    { durability = 'step', recorded }: JournalOptions = {},
  ) {
    this.context = context;
    this.durability = durability;
    this.observer = observer;
    this.owner = owner;
    this.held = context.lease;
    for (const id of storedCalls) this.saved.set(id, undefined);
    this.savedItems = context.keepsTranscript === true ? Infinity : context.storedItems;
    // That of a new run is undefined.
    this.savedResponse = owner.response;
    if (recorded !== undefined && recorded.withRun.length > 0)
      this.open = new Map(recorded.withRun.map((id) => [id, isSettled(owner.getCall(id))]));
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
    const isChanged = this.isRunChanged || this.isEndIntentUnsaved || this.changed !== undefined;
    const areAwaited = [this.unsaved, this.due, this.progressed].some((ids) => ids !== undefined);
    const isEnding = this.isBroken || this.finalWrite !== undefined;
    return (
      !isChanged && !this.isWriting && !areAwaited && !isEnding && this.savedItems === this.owner.transcript.length
    );
  }

  private get isWriting(): boolean {
    return this.isQueued || this.writes > 0 || this.clearing !== undefined;
  }

  /** The present claim of this process to the run. */
  get lease(): RunLease {
    return this.held;
  }

  /** The run is written at the next barrier, or before the next changed call. */
  runChanged(): void {
    this.isRunChanged = true;
  }

  /**
   * The call is written at the next barrier; with `step`, and if it waits for a person or another service, at the
   * latest when the present tasks of the process are done.
   */
  callChanged(id: string): void {
    this.progressed?.delete(id);
    this.changed = including(this.changed, id);
    this.unsaved = including(this.unsaved, id);
    if (this.durability === 'step' || waitOf(this.owner.getCall(id)) !== undefined) this.schedule();
  }

  /** The run is in the store as it is, unless something else of it has changed. */
  runStored(): void {
    this.isRunChanged = false;
  }

  /** The run has made progress for the first time since it was taken over, which is written at once. */
  takeoversCleared(): void {
    if (this.isRunChanged || this.isWriting || this.isBroken || this.hasLostWrite) this.writeTakeovers();
    else
      this.clearing ??= this.context.runs.clearTakeovers(this.lease).then(
        () => (this.clearing = undefined),
        () => {
          this.clearing = undefined;
          this.writeTakeovers();
        },
      );
  }

  private writeTakeovers(): void {
    this.runChanged();
    // The journal reports its own failures through `onBroken`.
    this.flush().catch(() => undefined);
  }

  /** The call is written with the next heartbeat. */
  callProgressed(id: string): void {
    this.progressed = including(this.progressed, id);
  }

  heartbeat(): void {
    if (this.durability === 'end') return;
    for (const id of this.progressed ?? []) this.unsaved = including(this.unsaved, id);
    this.progressed = undefined;
    if (this.unsaved !== undefined) this.schedule();
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
    this.start();
    return this.clearing === undefined ? this.callsTail : this.clearing.then(() => this.callsTail);
  }

  /**
   * Resolves when the changes of calls so far are in the store.
   * @throws as `flush` does
   */
  callsStored(): Promise<void> {
    if (this.unsaved !== undefined) this.start();
    return this.callsTail;
  }

  /**
   * To be called before the model is called.
   * @returns as `flushAndVerifyLease` does; undefined if there is nothing to wait for
   */
  beforeModelCall(): Promise<void> | undefined {
    this.runChanged();
    return this.durability === 'step' ? this.flushAndVerifyLease() : this.verifyOwnership();
  }

  /** To be called before a tool is run. @returns as `beforeModelCall` does */
  beforeTool(isReadOnly: boolean): Promise<void> | undefined {
    return this.durability === 'end' && isReadOnly ? this.verifyOwnership() : this.flushAndVerifyLease();
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
    // Calls that could not be written break the journal, too.
    if (this.isBroken) throw new LeaseLostError('The run continues in another process.');
    // A verification during which the process was suspended says nothing about the present.
    while (!this.context.runs.isLeaseCurrent()) {
      const startedAt = performance.now();
      await this.verifyLease();
      if (performance.now() - startedAt < this.context.runs.leaseMs) return;
    }
  }

  /**
   * Verifies with a write that this process still owns the run.
   * @throws as `flush` does
   */
  verifyLease(): Promise<void> {
    this.runChanged();
    this.start();
    return this.runTail;
  }

  /**
   * Records the end of the run: first all calls, then the end in one last write.
   * @throws LeaseLostError
   */
  async finish(end: RunEnd): Promise<void> {
    try {
      // The last write records the run itself, but a new call must not be stored before the transcript that it is in.
      const hasNewCall = [...(this.changed ?? [])].some((id) => !this.saved.has(id) && this.open?.has(id) !== true);
      if (!hasNewCall) this.isRunChanged = false;
      await this.flush();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.writeRemaining();
    }
    this.finalWrite = end;
    await this.write(() => this.saveRun(NONE));
  }

  /**
   * Writes what the store accepts after it refused something, most likely the transcript: the calls, and later the
   * run without its transcript and response.
   */
  private async writeRemaining(): Promise<void> {
    const remaining = new Set([...(this.due ?? NONE), ...(this.unsaved ?? NONE)]);
    this.due = undefined;
    this.unsaved = undefined;
    this.isBroken = false;
    this.savedItems = Infinity;
    this.savedResponse = this.owner.response;
    this.savedCompaction = this.owner.compaction;
    for (const id of remaining) await this.write(() => this.saveCalls([id])).catch(() => undefined);
    this.isBroken = false;
    this.runTail = Promise.resolve();
    this.callsTail = this.runTail;
  }

  private schedule(): void {
    if (this.isScheduled || this.isBroken) return;
    this.isScheduled = true;
    setImmediate(() => this.start());
  }

  /** Queues a batch. It takes the changes in a later microtask, so that those made without an await are together. */
  private start(): void {
    this.isScheduled = false;
    const hasChanges = this.isRunChanged || this.isEndIntentUnsaved || this.unsaved !== undefined;
    if (this.isBroken || this.isQueued || !hasChanges) return;
    this.isQueued = true;
    // The request of a person who decides about a call must not wait for what else the run writes.
    const run = runDetached(() => this.writeRun(this.runTail));
    const calls = runDetached(() => this.writeCalls(this.callsTail, run));
    // The next barrier rejects with the error; all others were notified by `onBroken`.
    run.catch(() => undefined);
    calls.catch(() => undefined);
    this.runTail = run;
    this.callsTail = calls;
  }

  private async writeRun(previous: Promise<void>): Promise<void> {
    await previous;
    this.isQueued = false;
    const ids = this.changed ?? NONE;
    const calls = this.unsaved ?? NONE;
    this.changed = undefined;
    this.unsaved = undefined;
    try {
      if (!this.isRunChanged && !this.isEndIntentUnsaved && this.openCallsAmong(ids).length === 0) return;
      this.isRunChanged = false;
      await this.write(() => this.saveRun(ids));
    } finally {
      for (const id of calls) this.due = including(this.due, id);
    }
  }

  /** @param run the write of the run in the same batch */
  private async writeCalls(previous: Promise<void>, run: Promise<void>): Promise<void> {
    await previous;
    await run;
    if (this.due === undefined) return;
    const ids = [...this.due];
    this.due = undefined;
    try {
      await this.write(async () => {
        await this.endIntentStored();
        return !this.isBroken && (await this.saveCalls(ids));
      });
    } catch (error) {
      for (const id of ids) this.due = including(this.due, id);
      throw error;
    }
  }

  /** Calls are written as they are by then: one that the end has cancelled must not be stored before the end is. */
  private async endIntentStored(): Promise<void> {
    while (this.isEndIntentUnsaved && !this.isBroken) {
      this.start();
      await this.runTail;
    }
  }

  private async write(attempt: () => Promise<boolean>): Promise<void> {
    this.writes += 1;
    try {
      await this.writeUntilStored(attempt);
    } finally {
      this.writes -= 1;
    }
  }

  private async writeUntilStored(attempt: () => Promise<boolean>): Promise<void> {
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
        if (waited >= this.context.runs.leaseMs)
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

  private onOutage(): void {
    if (this.hasLostWrite) return;
    this.hasLostWrite = true;
    this.owner.onStoreOutage(true);
  }

  /** @returns false if the run has another owner, unless it ended with the last write of this journal */
  private reclaim(): Promise<boolean> {
    this.reclaiming ??= this.claimAgain().finally(() => (this.reclaiming = undefined));
    return this.reclaiming;
  }

  private async claimAgain(): Promise<boolean> {
    const lease = await reclaimLease(this.context.runs.store, this.lease);
    // The last write may have succeeded although its response was lost.
    if (lease === undefined && (this.finalWrite === undefined || !(await this.hasEnded()))) return false;
    this.held = lease ?? this.lease;
    this.hasLostWrite = false;
    this.owner.onStoreOutage(false);
    return true;
  }

  /** @param ids calls that have changed */
  private async saveRun(ids: ReadonlySet<string>): Promise<boolean> {
    const { lease } = this;
    const { runs } = this.context;
    const { transcript, response, compaction } = this.owner;
    // The transcript may grow while it is written.
    const { length } = transcript;
    const { endIntent, finalWrite } = this;
    const isEnding = finalWrite !== undefined;
    const progress = this.owner.progress();
    const { state } = progress;
    // The final state is written by the last write only.
    const change: Writable<Partial<RunProgress>> = isEnding || !isFinished(state) ? progress : withoutState(progress);
    if (endIntent !== undefined) change.error = endIntent;
    if (finalWrite !== undefined) Object.assign(change, finalWrite);
    // The last write has all of it, so that the store can put it together.
    if (length > this.savedItems || (isEnding && this.savedItems !== Infinity)) change.transcript = transcript.slice();
    if (response !== undefined && response !== this.savedResponse) change.response = response;
    if (compaction !== undefined && compaction !== this.savedCompaction) change.compaction = compaction;
    const changed = this.openCallsAmong(ids);
    const settled = this.storedAsSettled();
    const isSaved = await runs.store.saveRun(lease, change, { changed, settled }, this.savedItems);
    // If another write has claimed the run again meanwhile, all of this is written again.
    if (!isSaved) return isEnding && (await this.hasEnded());
    for (const id of settled) this.open?.delete(id);
    if (changed.length > 0) this.open ??= new Map();
    for (const { id } of changed) this.open?.set(id, false);
    this.savedItems = Math.max(this.savedItems, length);
    this.savedResponse = response;
    this.savedCompaction = compaction;
    if (endIntent === this.endIntent) this.isEndIntentUnsaved = false;
    if (isEnding || !isFinished(state)) this.stateStored(RUN_KEY, state);
    return true;
  }

  private openCallsAmong(ids: ReadonlySet<string>): readonly ToolCall[] {
    const calls: ToolCall[] = [];
    for (const id of ids) {
      const call = this.owner.getCall(id);
      if (!isSettled(call)) calls.push(call);
    }
    return calls;
  }

  /** Ids of the calls that are recorded with the run although they are stored as settled. */
  private storedAsSettled(): readonly string[] {
    const ids: string[] = [];
    if (this.open !== undefined) for (const [id, isStored] of this.open) if (isStored) ids.push(id);
    return ids;
  }

  /** An earlier attempt at the last write may have succeeded although its response was lost. */
  private async hasEnded(): Promise<boolean> {
    const { lease } = this;
    const { runs } = this.context;
    const stored = await runs.store.load(lease.executionId);
    return stored !== undefined && stored.run.fence === lease.fence && isFinished(stored.run.state);
  }

  private async saveCalls(ids: readonly string[]): Promise<boolean> {
    const { lease } = this;
    const { runs } = this.context;
    // They may change while they are written.
    const calls = ids.map((id) => this.owner.getCall(id));
    const isSaved = await runs.store.saveCalls(lease, calls);
    if (!isSaved) return false;
    for (const call of calls) {
      if (isSettled(call) && this.open?.has(call.id) === true) this.open.set(call.id, true);
      this.stateStored(call.id, call.state);
    }
    return true;
  }

  private stateStored(key: string, state: RunState | ToolCallState): void {
    if (this.saved.get(key) === state) return;
    this.saved.set(key, state);
    this.context.runs.stateStored(this.lease.userId);
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

function withoutState({ state: _, ...progress }: OwnProgress): Omit<OwnProgress, 'state'> {
  return progress;
}

function including(ids: Set<string> | undefined, id: string): Set<string> {
  return ids === undefined ? new Set([id]) : ids.add(id);
}
