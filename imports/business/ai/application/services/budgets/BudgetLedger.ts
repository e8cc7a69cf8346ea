/**
 * Updates users' budget accounts by compare-and-set. Updates of one user that arrive during a write are combined into
 * the next one.
 */
import { openBudget } from '../../../domain/entities/BudgetAccount';
import type { BudgetAccount } from '../../../domain/entities/BudgetAccount';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore } from '../../../domain/interfaces/BudgetStore';
import { runDetached } from '../runDetached';

/**
 * A pure function, called again if another process has changed the account meanwhile. To leave the account
 * unchanged, it returns the same object.
 */
export type BudgetUpdate<T> = (account: BudgetAccount) => { readonly account: BudgetAccount; readonly result: T };

interface PendingUpdate {
  /** Computes the update; `settle` then resolves its promise. */
  readonly apply: (account: BudgetAccount) => { readonly account: BudgetAccount; readonly settle: () => void };
  readonly reject: (error: unknown) => void;
}

/** A write restarts if another process has changed the account. One of them always succeeds. */
const MAX_ATTEMPTS = 1_000;

export class BudgetLedger {
  private readonly store: BudgetStore;
  private readonly now: () => number;
  private readonly pending = new Map<string, PendingUpdate[]>();

  /** @param now milliseconds since the epoch */
  constructor(store: BudgetStore, now: () => number) {
    this.store = store;
    this.now = now;
  }

  /** @throws whatever the store throws; it is then unknown whether the update was stored */
  change<T>(userId: string, update: BudgetUpdate<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply: PendingUpdate['apply'] = (before) => {
        const { account, result } = update(before);
        return { account, settle: () => resolve(result) };
      };
      const waiting = this.pending.get(userId);
      if (waiting !== undefined) {
        waiting.push({ apply, reject });
        return;
      }
      this.pending.set(userId, [{ apply, reject }]);
      // One write may carry the updates of several callers.
      void runDetached(() => this.writeAll(userId));
    });
  }

  private async writeAll(userId: string): Promise<void> {
    for (;;) {
      const updates = this.pending.get(userId) ?? [];
      if (updates.length === 0) break;
      this.pending.set(userId, []);
      try {
        for (const { settle } of await this.write(userId, updates)) settle();
      } catch (error) {
        for (const { reject } of updates) reject(error);
      }
    }
    this.pending.delete(userId);
  }

  private async write(
    userId: string,
    updates: readonly PendingUpdate[],
  ): Promise<readonly { readonly settle: () => void }[]> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const stored = await this.store.find(userId);
      const before = stored?.account ?? openBudget(userId, this.now());
      let account = before;
      const results = updates.map(({ apply }) => {
        const applied = apply(account);
        ({ account } = applied);
        return applied;
      });
      if (account === before || (await this.store.replace(account, stored?.revision ?? 0))) return results;
    }
    throw new LLMServerError(`Could not update the budget of the user "${userId}": too many concurrent changes.`, {
      retryable: true,
    });
  }
}
