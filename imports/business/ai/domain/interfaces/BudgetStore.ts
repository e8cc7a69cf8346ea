/**
 * Where users' budgets are kept, for all processes together: whoever changes an account names the revision that the
 * change was made from.
 */
import type { BudgetAccount } from '../entities/BudgetAccount';

export interface StoredBudget {
  readonly account: BudgetAccount;
  /** Rises with every change, from 1. */
  readonly revision: number;
}

export interface BudgetStore {
  find(userId: string): Promise<StoredBudget | undefined>;
  /**
   * Puts the account in the place of the one of that revision, or where none is for 0.
   * @returns false, and changes nothing, when the account has moved on
   */
  replace(account: BudgetAccount, revision: number): Promise<boolean>;
}
