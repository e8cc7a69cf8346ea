/** Budgets in memory, for this process alone. */
import type { BudgetAccount } from '../../ai/domain/entities/BudgetAccount';
import type { BudgetAccountReader, BudgetStore, StoredBudget } from '../domain/BudgetStore';

export class MemoryBudgetStore implements BudgetStore, BudgetAccountReader {
  private readonly accounts = new Map<string, StoredBudget>();

  find(userId: string): Promise<StoredBudget | undefined> {
    return Promise.resolve(this.accounts.get(userId));
  }

  replace(account: BudgetAccount, revision: number): Promise<boolean> {
    const isExpected = (this.accounts.get(account.userId)?.revision ?? 0) === revision;
    if (isExpected) {
      if (revision === 0) this.forgetBefore(account.month);
      this.accounts.set(account.userId, { account, revision: revision + 1 });
    }
    return Promise.resolve(isExpected);
  }

  ofMonth(month: string, limit: number, userIdStart = ''): Promise<readonly BudgetAccount[]> {
    const accounts = [...this.accounts.values()].map(({ account }) => account);
    return Promise.resolve(
      accounts
        .filter((account) => account.month === month && account.userId.startsWith(userIdStart))
        .sort((left, right) => right.used.month.money - left.used.month.money)
        .slice(0, limit),
    );
  }

  /** Usage of earlier months no longer counts. */
  private forgetBefore(month: string): void {
    for (const [userId, { account }] of this.accounts)
      if (account.month < month && account.holds.length === 0) this.accounts.delete(userId);
  }
}
