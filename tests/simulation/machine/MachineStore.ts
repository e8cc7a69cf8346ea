/** The documents of one run and of its calls, as a store keeps them: written under the fence of their owner. */
import { isFinished, UNOWNED } from '../../../imports/business/ai/domain/entities/Run';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import { NO_USAGE } from '../../../imports/business/ai/domain/entities/Response';
import type {
  MessageProgress,
  RecordedCalls,
  StoredRun,
} from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunAction, RunProgress, RunRecord } from '../../../imports/business/ai/domain/types/RunRecords';
import { dueMessages, waitingAmong } from '../../../imports/business/ai/domain/types/RunMessages';
import type { RunMessage, StoredMessages } from '../../../imports/business/ai/domain/types/RunMessages';
import type { Writable } from '../../../imports/business/ai/domain/types/Writable';
import { isAsNew } from '../../../imports/business/ai/infrastructure/persistence/runs/isAsNew';

/** A call as each kind of write has it. */
interface StoredCall {
  readonly saved: ToolCall | undefined;
  /** Recorded with the run. */
  readonly open: ToolCall | undefined;
}

interface QueuedMessage extends Writable<RunMessage> {
  state: 'waiting' | 'taken' | 'done';
}

export const RUN_ID = 'run';

export class MachineStore {
  readonly run: Writable<RunProgress>;
  owner: string;
  fence = 1;
  readonly calls = new Map<string, StoredCall>();
  /** By their ids: the first for each wait counts. */
  readonly commands = new Map<string, RunAction>();
  /** What the run was sent. */
  readonly queue: QueuedMessage[] = [];
  private readonly input: readonly Item[];

  constructor(input: readonly Item[], owner: string) {
    this.input = input;
    this.owner = owner;
    this.run = {
      ...{ state: 'running', iterations: 0, isCalling: false, usage: NO_USAGE, transcript: input },
      ...{ turnStart: input.length, failedTurns: 0, worked: 0, seq: 0, takeovers: 0 },
    };
  }

  get hasEnded(): boolean {
    return isFinished(this.run.state);
  }

  /** @returns false if it is refused */
  saveRun(
    fence: number,
    change: Partial<RunProgress>,
    changed: readonly ToolCall[],
    settled: readonly string[],
    { delivered, sent }: MessageProgress,
  ): boolean | 'addressed' {
    if (fence !== this.fence || this.hasEnded) return false;
    if (change.state === 'completed' && this.queue.length !== sent) return 'addressed';
    const ids = new Set(delivered.map(({ messageId }) => messageId));
    for (const message of this.queue) if (ids.has(message.messageId)) message.state = 'done';
    Object.assign(this.run, change);
    for (const id of settled) this.calls.set(id, { saved: this.calls.get(id)?.saved, open: undefined });
    for (const call of changed) this.calls.set(call.id, { saved: this.calls.get(call.id)?.saved, open: call });
    return true;
  }

  /** @returns false if it is refused */
  saveCalls(fence: number, calls: readonly ToolCall[]): boolean {
    if (fence !== this.fence) return false;
    for (const call of calls) this.calls.set(call.id, { saved: call, open: this.calls.get(call.id)?.open });
    return true;
  }

  /** @returns false if the run has ended */
  addMessage(message: RunMessage): boolean {
    if (this.hasEnded) return false;
    this.queue.push({ ...message, state: 'waiting' });
    return true;
  }

  /** @param to undefined: it is withdrawn @returns false if the run has taken it */
  changeMessage(id: string, to: Pick<RunMessage, 'when' | 'item'> | undefined): boolean {
    const found = this.queue.find(({ messageId }) => messageId === id);
    if (found?.state !== 'waiting') return false;
    if (to === undefined) found.state = 'done';
    else Object.assign(found, to);
    return true;
  }

  /** @returns undefined if the run has another owner */
  takeMessages(fence: number, isAfterAnswer: boolean): StoredMessages | undefined {
    if (fence !== this.fence || this.hasEnded) return undefined;
    const waiting = this.queue.filter(({ state }) => state === 'waiting');
    for (const due of dueMessages(waiting, isAfterAnswer))
      this.queue.find(({ messageId }) => messageId === due.messageId)!.state = 'taken';
    return this.messages();
  }

  private messages(): StoredMessages {
    return {
      taken: this.queue.filter(({ state }) => state === 'taken').map(({ state: _, ...message }) => message),
      waiting: waitingAmong(this.queue.filter(({ state }) => state === 'waiting')),
      sent: this.queue.length,
      delivered: [],
    };
  }

  /** @returns whether the run is the owner's */
  claim(fence: number, owner: string): boolean {
    if (fence !== this.fence || this.hasEnded) return false;
    this.owner = owner;
    this.fence += 1;
    return true;
  }

  release(fence: number, owner: string): boolean {
    if (fence !== this.fence || this.owner !== owner || this.hasEnded) return false;
    this.owner = UNOWNED;
    return true;
  }

  call(id: string): ToolCall | undefined {
    const stored = this.calls.get(id);
    if (stored === undefined) return undefined;
    return stored.saved !== undefined && isAsNew(stored.saved, stored.open) ? stored.saved : stored.open;
  }

  /** @param tellsRecorded whether it says where calls are stored */
  load(tellsRecorded: boolean): StoredRun {
    const calls: ToolCall[] = [];
    for (const id of this.calls.keys()) calls.push(this.call(id)!);
    // What a request says besides concerns no decision of the machine.
    const run = { ...this.run, input: this.input, createdAt: 0, owner: this.owner, fence: this.fence } as RunRecord;
    const stored = { run, calls, messages: this.messages() };
    return tellsRecorded ? { ...stored, recorded: this.recorded() } : stored;
  }

  private recorded(): RecordedCalls {
    const withRun: string[] = [];
    const onlyWithRun: string[] = [];
    for (const [id, { saved, open }] of this.calls) {
      if (open === undefined) continue;
      withRun.push(id);
      if (saved === undefined || !isAsNew(saved, open)) onlyWithRun.push(id);
    }
    return { withRun, onlyWithRun };
  }
}
