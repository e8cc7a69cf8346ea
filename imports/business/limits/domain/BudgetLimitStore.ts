/** Stores the budget limits that admins set at run time, for all processes. */
import type { BudgetLimits } from '../../ai/domain/entities/BudgetAccount';

export interface StoredBudgetLimits {
  /** Undefined: the limits of every user who has none of their own. */
  readonly userId: string | undefined;
  readonly limits: BudgetLimits;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** The user who set them. Absent once that user's data is deleted. */
  readonly changedBy?: string;
}

export interface BudgetLimitStore {
  find(userId: string | undefined): Promise<StoredBudgetLimits | undefined>;
  /** Limits of single users, by user id. @param userIdStart lists only users whose ids start with it */
  ofUsers(limit: number, userIdStart?: string): Promise<readonly StoredBudgetLimits[]>;
  set(limits: StoredBudgetLimits): Promise<void>;
  /** @returns whether there were any */
  remove(userId: string | undefined): Promise<boolean>;
}
