/**
 * Updates accounts by compare-and-set. Updates of one account that arrive during a write are combined into the next
 * one.
 */
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import type { AccountStore } from '../../../domain/interfaces/AccountStore';
import { runDetached } from '../runDetached';

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
}

interface PendingUpdate<A> {
  /** Computes the update; `settle` then resolves its promise. */
  readonly apply: (account: A) => { readonly account: A; readonly settle: () => void };
  readonly reject: (error: unknown) => void;
}

/** A write restarts if another process has changed the account. One of them always succeeds. */
const MAX_ATTEMPTS = 1_000;

export class AccountLedger<A> {
  private readonly options: AccountLedgerOptions<A>;
  private readonly pending = new Map<string, PendingUpdate<A>[]>();

  constructor(options: AccountLedgerOptions<A>) {
    this.options = options;
  }

  /** @throws whatever the store throws; it is then unknown whether the update was stored */
  change<T>(id: string, update: AccountUpdate<A, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply: PendingUpdate<A>['apply'] = (before) => {
        const { account, result } = update(before);
        return { account, settle: () => resolve(result) };
      };
      const waiting = this.pending.get(id);
      if (waiting !== undefined) {
        waiting.push({ apply, reject });
        return;
      }
      this.pending.set(id, [{ apply, reject }]);
      // One write may carry the updates of several callers.
      void runDetached(() => this.writeAll(id));
    });
  }

  private async writeAll(id: string): Promise<void> {
    for (;;) {
      const updates = this.pending.get(id) ?? [];
      if (updates.length === 0) break;
      this.pending.set(id, []);
      try {
        for (const { settle } of await this.write(id, updates)) settle();
      } catch (error) {
        for (const { reject } of updates) reject(error);
      }
    }
    this.pending.delete(id);
  }

  private async write(
    id: string,
    updates: readonly PendingUpdate<A>[],
  ): Promise<readonly { readonly settle: () => void }[]> {
    const { store, open, kind } = this.options;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const stored = await store.find(id);
      const before = stored?.account ?? open(id);
      let account = before;
      const results = updates.map(({ apply }) => {
        const applied = apply(account);
        ({ account } = applied);
        return applied;
      });
      if (account === before || (await store.replace(account, stored?.revision ?? 0))) return results;
    }
    throw new LLMServerError(`Could not update ${kind} "${id}": too many concurrent changes.`, { retryable: true });
  }
}
