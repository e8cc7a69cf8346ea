/** Stores budget accounts for all processes. */
import type { BudgetAccount } from '../../ai/domain/entities/BudgetAccount';
import type { AccountStore, StoredAccount } from './AccountStore';

export type StoredBudget = StoredAccount<BudgetAccount>;

export type BudgetStore = AccountStore<BudgetAccount>;

/** For people. */
export interface BudgetAccountReader extends Pick<BudgetStore, 'find'> {
  /**
   * Accounts that were used in a month, those that cost most first.
   * @param month such as `2026-11`
   * @param userIdStart lists only users whose ids start with it
   */
  ofMonth(month: string, limit: number, userIdStart?: string): Promise<readonly BudgetAccount[]>;
}
