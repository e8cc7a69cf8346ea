/**
 * Updates accounts by compare-and-set. Updates of one account that arrive during a write are combined into the next
 * one. An account is not read again before a write that fails if another process has changed it.
 */
import { LLMServerError } from '../../ai/domain/errors/LLMErrors';
import type { AccountStore, StoredAccount } from '../domain/AccountStore';
import { runDetached } from '../../ai/application/services/shared/runDetached';

/**
 * A pure function, called again if another process has changed the account meanwhile. To leave the account
 * unchanged, it returns the same object.
 */
export type AccountUpdate<A, T> = (account: A) => { readonly account: A; readonly result: T };

export interface AccountLedgerOptions<A> {
  readonly store: AccountStore<A>;
  /** The account of an id that has none yet. */
  readonly open: (id: string) => A;
  /** What an account is of, as in `the budget`. */
  readonly kind: string;
  /** Milliseconds between two writes of updates that may wait. Default: 50. */
  readonly delayMs?: number;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: () => number;
}

interface PendingUpdate<A> {
  /** Computes the update; `settle` then resolves its promise. */
  readonly apply: (account: A) => { readonly account: A; readonly settle: () => void };
  readonly reject: (error: unknown) => void;
}

/** The updates of one account that are not stored yet, or were stored last. */
interface UpdateQueue<A> {
  updates: PendingUpdate<A>[];
  isWriting: boolean;
  /** One of them must not wait. */
  isUrgent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  writtenAt: number;
  /** The account as this process last wrote it. Undefined: it must be read. */
  written: StoredAccount<A> | undefined;
}

const DELAY_MS = 50;
/** Accounts whose last write is remembered. */
const MAX_IDLE = 1_000;
/** A write restarts if another process has changed the account. One of them always succeeds. */
const MAX_ATTEMPTS = 1_000;

export class AccountLedger<A> {
  private readonly options: AccountLedgerOptions<A>;
  /** Queues by account id. Idle ones are kept for a while, to know when their accounts were last written. */
  private readonly queues = new Map<string, UpdateQueue<A>>();
  private readonly clock: () => number;
  private readonly delayMs: number;

  constructor(options: AccountLedgerOptions<A>) {
    this.options = options;
    this.clock = options.clock ?? (() => performance.now());
    this.delayMs = options.delayMs ?? DELAY_MS;
  }

  /** @throws whatever the store throws; it is then unknown whether the update was stored */
  change<T>(id: string, update: AccountUpdate<A, T>): Promise<T> {
    const queue = this.queueOf(id);
    const changed = this.add(queue, update);
    queue.isUrgent = true;
    this.start(id, queue);
    return changed;
  }

  /**
   * For an update that nothing depends on: if the account was written recently, it waits for others, to be written with
   * them.
   * @returns undefined for an update that waits, otherwise a promise that never rejects
   */
  changeSoon(id: string, update: (account: A) => A, onFailure: (error: unknown) => void): Promise<void> | undefined {
    const queue = this.queueOf(id);
    const isIdle = !queue.isWriting && queue.timer === undefined && this.clock() - queue.writtenAt >= this.delayMs;
    const changed = this.add(queue, (account) => ({ account: update(account), result: undefined })).catch(onFailure);
    if (!isIdle) {
      this.startLater(id, queue);
      return undefined;
    }
    this.start(id, queue);
    return changed;
  }

  /** Resolves when all updates so far have been stored, or have failed. */
  async settled(): Promise<void> {
    const unfinished = [...this.queues].filter(([, { updates, isWriting }]) => isWriting || updates.length > 0);
    await Promise.allSettled(unfinished.map(([id]) => this.change(id, (account) => ({ account, result: undefined }))));
  }

  private queueOf(id: string): UpdateQueue<A> {
    const existing = this.queues.get(id);
    if (existing !== undefined) return existing;
    const queue: UpdateQueue<A> = {
      updates: [],
      isWriting: false,
      isUrgent: false,
      timer: undefined,
      writtenAt: -Infinity,
      written: undefined,
    };
    this.queues.set(id, queue);
    return queue;
  }

  private add<T>(queue: UpdateQueue<A>, update: AccountUpdate<A, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply: PendingUpdate<A>['apply'] = (before) => {
        const { account, result } = update(before);
        return { account, settle: () => resolve(result) };
      };
      queue.updates.push({ apply, reject });
    });
  }

  /** One write may carry the updates of several callers. */
  private start(id: string, queue: UpdateQueue<A>): void {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    if (!queue.isWriting) void runDetached(() => this.writeAll(id, queue));
  }

  private startLater(id: string, queue: UpdateQueue<A>): void {
    if (queue.isWriting || queue.timer !== undefined) return;
    queue.timer = runDetached(() => setTimeout(() => this.start(id, queue), this.delayMs));
  }

  private async writeAll(id: string, queue: UpdateQueue<A>): Promise<void> {
    queue.isWriting = true;
    do {
      const updates = take(queue);
      try {
        for (const { settle } of await this.write(id, queue, updates)) settle();
      } catch (error) {
        for (const { reject } of updates) reject(error);
      }
    } while (queue.isUrgent);
    queue.isWriting = false;
    queue.writtenAt = this.clock();
    if (queue.updates.length > 0) this.startLater(id, queue);
    else this.forgetIdle();
  }

  private forgetIdle(): void {
    for (const [id, { isWriting, updates }] of this.queues) {
      if (this.queues.size <= MAX_IDLE) return;
      if (!isWriting && updates.length === 0) this.queues.delete(id);
    }
  }

  private async write(
    id: string,
    queue: UpdateQueue<A>,
    updates: readonly PendingUpdate<A>[],
  ): Promise<readonly { readonly settle: () => void }[]> {
    const { store, open, kind } = this.options;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { written } = queue;
      // Unless the write succeeds, it is not known what is stored.
      queue.written = undefined;
      const stored = written ?? (await store.find(id));
      const before = stored?.account ?? open(id);
      let account = before;
      const results = updates.map(({ apply }) => {
        const applied = apply(account);
        ({ account } = applied);
        return applied;
      });
      if (account === before) {
        // What leaves the account unchanged, as a refusal does, must be true of the account as it is now.
        if (written !== undefined) continue;
        return results;
      }
      const revision = stored?.revision ?? 0;
      if (!(await store.replace(account, revision))) continue;
      // The store chooses the revision of a new account.
      if (revision > 0) queue.written = { account, revision: revision + 1 };
      return results;
    }
    throw new LLMServerError(`Could not update ${kind} "${id}": too many concurrent changes.`, { retryable: true });
  }
}

function take<A>(queue: UpdateQueue<A>): readonly PendingUpdate<A>[] {
  const { updates } = queue;
  queue.updates = [];
  queue.isUrgent = false;
  return updates;
}
