/**
 * Writes the states of a session to the simulated store, in batches as `RunStoreWriter` does: what a batch contains is
 * decided by the machine's own functions, and when each of its requests is made, lost or repeated by the schedule.
 */
import { isFinished } from '../../../imports/business/ai/domain/entities/Run';
import type { RunState } from '../../../imports/business/ai/domain/entities/Run';
import { isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { CallTable } from '../../../imports/business/ai/domain/run/CallTable';
import type { RunProgress } from '../../../imports/business/ai/domain/types/RunRecords';
import type { Writable } from '../../../imports/business/ai/domain/types/Writable';
import type { RestoredRun } from '../../../imports/business/ai/application/services/runs/durable/restoreRun';
import type { SessionWorld, StoreChange } from './SessionWorld';
import type { ProcessState } from './SimulatedProcess';

type RunEnd = Pick<RunProgress, 'endedAt' | 'error'>;

/** What is written. */
export interface WrittenSession {
  readonly world: SessionWorld;
  readonly process: ProcessState;
  readonly state: ActiveRun;
  onLeaseLost(): void;
}

/** A write as it is sent: what it does to the store, and what is known once it is confirmed. */
interface Write {
  readonly what: string;
  readonly apply: StoreChange;
  readonly confirmed: () => void;
}

interface Waiting {
  readonly batch: number;
  readonly then: () => void;
}

export class StateWriter {
  fence: number;
  isBroken = false;
  /** The state that the last write of the run has stored. */
  written: ActiveRun;
  /** The calls as the last write of calls has stored them. */
  writtenCalls: CallTable;
  private readonly session: WrittenSession;
  private readonly recordedIds: Set<string>;
  private writtenItems: number;
  private isForced: boolean;
  private includesProgress = false;
  private hasLostWrite = false;
  /** What waits until the run is claimed again. */
  private reclaiming: (() => void)[] = [];
  private finalWrite: (RunEnd & { readonly sent: number }) | undefined;
  /** The last write was refused, because the run was sent a message before. */
  private isAddressed = false;
  private isClosing = false;
  /** For which number of the process's cuts it is known that nobody else has the run. */
  private verifiedCuts: number;
  private isScheduled = false;
  private isQueued = false;
  private isRunBusy = false;
  private areCallsBusy = false;
  private batches = 0;
  private runsDone = 0;
  private callsDone = 0;
  private afterRun: Waiting[] = [];
  private afterCalls: Waiting[] = [];

  constructor(session: WrittenSession, fence: number, storedItems: number, restored: RestoredRun | undefined) {
    const { state, world, process } = session;
    this.session = session;
    this.fence = fence;
    this.verifiedCuts = process.claimedAtCuts;
    this.writtenItems = storedItems;
    this.isForced =
      restored !== undefined &&
      (restored.recorded === undefined || restored.hasInterruptedModelCall || restored.repaired.length > 0);
    const unwritten = new Set([...(restored?.repaired ?? []), ...(restored?.unwritten ?? [])]);
    this.writtenCalls =
      unwritten.size === 0
        ? state.calls
        : world.machine.CallTable.of([...state.calls].filter(({ id }) => !unwritten.has(id)));
    const status: RunState = restored === undefined ? 'running' : restored.storedState;
    this.written = { ...state, status, calls: this.writtenCalls };
    this.recordedIds = new Set(restored?.recorded?.withRun);
    if (unwritten.size > 0) this.schedule();
  }

  /** Whether nothing is being written, or will be unless the run changes. */
  get isAtRest(): boolean {
    const isWriting = this.isQueued || this.isRunBusy || this.areCallsBusy || this.callsDone < this.batches;
    return !isWriting && !this.isScheduled && !this.isBroken;
  }

  /** Whether the store has the whole state, and no write is under way. */
  get hasStoredAll(): boolean {
    if (!this.isAtRest || this.hasLostWrite || this.finalWrite !== undefined) return false;
    const { transcript } = this.session.state;
    const areItemsWritten = transcript === undefined || this.writtenItems === transcript.length;
    return areItemsWritten && !this.hasChanged && this.changes(true).length === 0;
  }

  private get hasChanged(): boolean {
    const { world, state } = this.session;
    if (this.isForced || world.machine.isRunChanged(this.written, state)) return true;
    return this.changes().length > 0 || this.openChanges(state).length > 0;
  }

  private get isLeaseCurrent(): boolean {
    const { isCut, cuts } = this.session.process;
    return !isCut && this.verifiedCuts === cuts;
  }

  schedule(): void {
    if (this.isScheduled || this.isBroken) return;
    this.isScheduled = true;
    this.later(() => this.start());
  }

  heartbeat(): void {
    if (this.session.state.rules.durability === 'end' || this.changes(true).length === 0) return;
    this.includesProgress = true;
    this.schedule();
  }

  stop(): void {
    this.isBroken = true;
  }

  /** Content was unloaded, or loaded again. */
  rebase(before: ActiveRun): void {
    const { state } = this.session;
    const rebased = (call: ToolCall): ToolCall =>
      before.calls.get(call.id) === call ? (state.calls.get(call.id) ?? call) : call;
    const transcript = this.written.transcript === before.transcript ? state.transcript : this.written.transcript;
    this.written = { ...this.written, transcript, calls: this.written.calls.map(rebased) };
    this.writtenCalls = this.writtenCalls.map(rebased);
  }

  takeoversCleared(): void {
    this.written = { ...this.written, takeovers: 0 };
    this.isForced = true;
    this.start();
  }

  /** @param then once every change so far is stored */
  flush(then: () => void): void {
    this.start();
    if (this.callsDone >= this.batches) this.later(then);
    else this.afterCalls.push({ batch: this.batches, then });
  }

  /** @param then once the run and its open calls are stored, and nobody else can have the run */
  flushAndVerify(then: () => void): void {
    this.start();
    this.afterRuns(() => this.pass(then));
  }

  /** @param then as for `flushAndVerify`, of whatever is stored */
  verifyOwnership(then: () => void): void {
    if (!this.isBroken && this.isLeaseCurrent) then();
    else this.flushAndVerify(then);
  }

  /** First all calls, then the end in one last write. @param then whether the end is stored: else, the run goes on */
  finish(end: RunEnd, then: (isStored: boolean) => void): void {
    const { sent } = this.session.state;
    const isNew = ({ id }: ToolCall): boolean => !this.writtenCalls.has(id) && !this.recordedIds.has(id);
    this.isClosing = !this.changes().some(isNew);
    this.flush(() => {
      this.finalWrite = { ...end, sent };
      this.send(
        () => this.runWrite(),
        () => {
          const isStored = !this.isAddressed;
          if (!isStored) this.finalWrite = undefined;
          this.isAddressed = false;
          this.isClosing &&= isStored;
          then(isStored);
        },
      );
    });
  }

  private afterRuns(then: () => void): void {
    if (this.runsDone >= this.batches) this.later(then);
    else this.afterRun.push({ batch: this.batches, then });
  }

  private pass(then: () => void): void {
    if (this.isBroken) return;
    if (this.isLeaseCurrent) {
      then();
      return;
    }
    const { process } = this.session;
    const { cuts } = process;
    this.isForced = true;
    this.start();
    this.afterRuns(() => {
      // A verification says nothing about what has happened since.
      if (process.cuts === cuts && !process.isCut) this.verifiedCuts = cuts;
      this.pass(then);
    });
  }

  private start(): void {
    this.isScheduled = false;
    if (this.isBroken || this.isQueued || !this.hasChanged) return;
    this.isQueued = true;
    this.batches += 1;
    if (!this.isRunBusy) this.later(() => this.writeRun());
  }

  private writeRun(): void {
    if (!this.isQueued || this.isRunBusy) return;
    this.isQueued = false;
    const { world, state } = this.session;
    const isChanged =
      this.isForced || world.machine.isRunChanged(this.written, state) || this.openChanges(state).length > 0;
    this.isForced = false;
    this.isRunBusy = true;
    const done = (): void => {
      this.isRunBusy = false;
      this.runsDone += 1;
      this.afterRun = this.release(this.afterRun, this.runsDone);
      this.writeCalls();
      if (this.isQueued) this.later(() => this.writeRun());
    };
    if (isChanged && !(this.isClosing && state.error === this.written.error)) this.send(() => this.runWrite(), done);
    else done();
  }

  private writeCalls(): void {
    if (this.areCallsBusy || this.callsDone >= this.runsDone) return;
    const ids: string[] = [];
    for (const { id } of this.changes()) if (this.written.calls.has(id) || this.recordedIds.has(id)) ids.push(id);
    this.includesProgress = false;
    this.areCallsBusy = true;
    const done = (): void => {
      this.areCallsBusy = false;
      this.callsDone += 1;
      this.afterCalls = this.release(this.afterCalls, this.callsDone);
      this.writeCalls();
    };
    if (ids.length === 0) done();
    else this.send(() => this.callsWrite(ids), done);
  }

  /** Calls that the end has cancelled must not be stored before it is. */
  private afterError(then: () => void): void {
    this.start();
    this.afterRuns(then);
  }

  private runWrite(): Write {
    const { fence, finalWrite } = this;
    const { state } = this.session;
    const changed = finalWrite === undefined ? this.openChanges(state) : [];
    const settled = this.storedAsSettled();
    const change = this.changeTo(state);
    const delivered = state.delivered.slice(finalWrite === undefined ? this.written.delivered.length : 0);
    const messages = { delivered, sent: finalWrite?.sent ?? state.sent };
    let isAddressed = false;
    return {
      what: 'the run',
      apply: (store, isHalf) => {
        const isSaved = !isHalf && store.saveRun(fence, change, changed, settled, messages);
        isAddressed = isSaved === 'addressed';
        if (isSaved === true) this.session.world.applied = state;
        return isSaved !== false;
      },
      confirmed: () => {
        if (isAddressed) {
          this.isAddressed = true;
          return;
        }
        for (const { id } of changed) this.recordedIds.add(id);
        for (const id of settled) this.recordedIds.delete(id);
        this.written = state;
        if (state.transcript !== undefined) this.writtenItems = Math.max(this.writtenItems, state.transcript.length);
      },
    };
  }

  /** @returns undefined if the error that ends the run must be stored before */
  private callsWrite(ids: readonly string[]): Write | undefined {
    const { fence } = this;
    const { calls, error } = this.session.state;
    if (error !== this.written.error) return undefined;
    const saved = ids.flatMap((id) => calls.get(id) ?? []);
    return {
      what: 'calls',
      apply: (store, isHalf) => store.saveCalls(fence, isHalf ? saved.slice(0, saved.length >> 1) : saved),
      confirmed: () => {
        for (const call of saved) this.writtenCalls = this.writtenCalls.with(call);
      },
    };
  }

  private changeTo(state: ActiveRun): Partial<RunProgress> {
    const { finalWrite, written } = this;
    const { transcript, response, compaction, error } = state;
    const progress: Writable<Partial<RunProgress>> = this.session.world.machine.runProgress(state, {
      ...{ worked: 0, startedAt: 0 },
    });
    if (finalWrite === undefined && isFinished(state.status)) delete progress.state;
    if (error !== undefined) progress.error = { code: error.code, message: error.message };
    if (finalWrite !== undefined) {
      const { sent: _, ...end } = finalWrite;
      Object.assign(progress, end);
    }
    if (transcript !== undefined && (transcript.length > this.writtenItems || finalWrite !== undefined))
      progress.transcript = transcript;
    if (response !== undefined && response !== written.response) progress.response = response;
    if (compaction !== undefined && compaction !== written.compaction) progress.compaction = compaction;
    return progress;
  }

  /** Makes a write again, of what there is to write by then, until the store has confirmed it. */
  private send(attempt: () => Write | undefined, done: () => void): void {
    const { world, process } = this.session;
    const again = (): void => this.later(() => this.send(attempt, done));
    if (this.isBroken) return;
    if (this.hasLostWrite) {
      this.reclaiming.push(again);
      if (this.reclaiming.length === 1) this.reclaim(this.fence);
      return;
    }
    const { fence } = this;
    const write = attempt();
    if (write === undefined) {
      this.afterError(() => this.send(attempt, done));
      return;
    }
    world.write(process, write.what, write.apply, (reply) => {
      if (this.isBroken) return;
      if (reply === 'unknown') {
        this.hasLostWrite = true;
        again();
      } else if (reply || (this.finalWrite !== undefined && world.store.fence === fence && world.store.hasEnded)) {
        write.confirmed();
        done();
      } else if (fence !== this.fence) again();
      else this.lose();
    });
  }

  /** Claims the run again, so that the lost write can no longer take effect. @param fence as it was read */
  private reclaim(fence: number): void {
    const { world, process } = this.session;
    world.write(
      process,
      'a claim',
      (store, isHalf) => !isHalf && store.claim(fence, process.name),
      (reply) => {
        const { store } = world;
        const isOwn = !store.hasEnded && store.owner === process.name;
        // An earlier claim may have succeeded although its reply was lost.
        if (reply === false && isOwn && store.fence > fence) {
          this.reclaim(store.fence);
          return;
        }
        const waiting = this.reclaiming;
        this.reclaiming = [];
        const hasEnded = this.finalWrite !== undefined && store.hasEnded && store.fence === fence;
        if (reply === true || (reply === false && hasEnded)) {
          this.fence = reply ? fence + 1 : fence;
          this.hasLostWrite = false;
        } else if (reply === false && !this.isBroken) this.lose();
        for (const again of waiting) again();
      },
    );
  }

  private lose(): void {
    this.isBroken = true;
    this.session.onLeaseLost();
  }

  private changes(includesProgress = this.includesProgress): readonly ToolCall[] {
    const { world, state } = this.session;
    return world.machine.changedCalls(this.writtenCalls, state.calls, includesProgress);
  }

  private openChanges(state: ActiveRun): readonly ToolCall[] {
    return this.session.world.machine
      .changedCalls(this.written.calls, state.calls, false)
      .filter((call) => !isSettled(call));
  }

  private storedAsSettled(): readonly string[] {
    const ids: string[] = [];
    for (const id of this.recordedIds) {
      const call = this.writtenCalls.get(id);
      if (call !== undefined && isSettled(call)) ids.push(id);
    }
    return ids;
  }

  private release(waiting: Waiting[], batch: number): Waiting[] {
    if (waiting.length === 0) return waiting;
    const left: Waiting[] = [];
    for (const each of waiting) {
      if (each.batch <= batch) this.later(each.then);
      else left.push(each);
    }
    return left;
  }

  private later(then: () => void): void {
    const { world, process } = this.session;
    world.scheduler.add('process', process, then);
  }
}
