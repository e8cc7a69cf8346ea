/** Stores users' budget accounts for all processes. A change names the revision that it is based on. */
import type { BudgetAccount } from '../entities/BudgetAccount';

export interface StoredBudget {
  readonly account: BudgetAccount;
  /** Increases with every change, starting at 1. */
  readonly revision: number;
}

export interface BudgetStore {
  find(userId: string): Promise<StoredBudget | undefined>;
  /**
   * Replaces the account of the given revision, or creates it for revision 0.
   * @returns false, without a change, if the stored revision is another one
   */
  replace(account: BudgetAccount, revision: number): Promise<boolean>;
}

/** For people. */
export interface BudgetAccountReader extends Pick<BudgetStore, 'find'> {
  /**
   * Accounts that were used in a month, those that cost most first.
   * @param month such as `2026-11`
   * @param userIdStart lists only users whose ids start with it
   */
  ofMonth(month: string, limit: number, userIdStart?: string): Promise<readonly BudgetAccount[]>;
}
