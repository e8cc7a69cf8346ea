/**
 * Changes of users' budgets by compare-and-set; changes of one user that come while another is being written go
 * together into the next write.
 */
import { openBudget } from '../../../domain/entities/BudgetAccount';
import type { BudgetAccount } from '../../../domain/entities/BudgetAccount';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore } from '../../../domain/interfaces/BudgetStore';

/**
 * A pure move. It may be made again, from an account that somebody else has changed. The very same account is no
 * change.
 */
export type BudgetUpdate<T> = (account: BudgetAccount) => { readonly account: BudgetAccount; readonly result: T };

interface PendingMove {
  /** Makes the move; `settle` then tells its result. */
  readonly apply: (account: BudgetAccount) => { readonly account: BudgetAccount; readonly settle: () => void };
  readonly reject: (error: unknown) => void;
}

/** Other processes that change the same account make a write start anew; one of them always gets through. */
const MAX_ATTEMPTS = 1_000;

export class BudgetLedger {
  private readonly store: BudgetStore;
  private readonly now: () => number;
  private readonly pending = new Map<string, PendingMove[]>();

  /** @param now milliseconds since the epoch */
  constructor(store: BudgetStore, now: () => number) {
    this.store = store;
    this.now = now;
  }

  /** @throws what the store throws; then nothing is known of the change */
  change<T>(userId: string, move: BudgetUpdate<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply: PendingMove['apply'] = (before) => {
        const { account, result } = move(before);
        return { account, settle: () => resolve(result) };
      };
      const waiting = this.pending.get(userId);
      if (waiting !== undefined) {
        waiting.push({ apply, reject });
        return;
      }
      this.pending.set(userId, [{ apply, reject }]);
      void this.writeAll(userId);
    });
  }

  private async writeAll(userId: string): Promise<void> {
    for (;;) {
      const moves = this.pending.get(userId) ?? [];
      if (moves.length === 0) break;
      this.pending.set(userId, []);
      try {
        for (const { settle } of await this.write(userId, moves)) settle();
      } catch (error) {
        for (const { reject } of moves) reject(error);
      }
    }
    this.pending.delete(userId);
  }

  private async write(
    userId: string,
    moves: readonly PendingMove[],
  ): Promise<readonly { readonly settle: () => void }[]> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const stored = await this.store.find(userId);
      const before = stored?.account ?? openBudget(userId, this.now());
      let account = before;
      const applied = moves.map(({ apply }) => {
        const moved = apply(account);
        ({ account } = moved);
        return moved;
      });
      if (account === before || (await this.store.replace(account, stored?.revision ?? 0))) return applied;
    }
    throw new LLMServerError('A budget could not be changed: too many others change it.', { retryable: true });
  }
}
