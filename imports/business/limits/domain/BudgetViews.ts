/** Budgets as people see them. Money is in US dollars, times are milliseconds since the epoch. */
import type { Amount, BudgetLimits, BudgetWindow, UsedAmount } from '../../ai/domain/entities/BudgetAccount';

/** Where limits come from: the server's settings, an admin at run time, or nowhere. */
export type BudgetSource = 'settings' | 'dashboard' | 'none';

/** The limits in force, and who set them. */
export interface BudgetLimitsView {
  readonly limits: BudgetLimits;
  readonly source: BudgetSource;
  readonly changedAt?: number;
  readonly changedBy?: string;
}

export interface BudgetUsageView {
  readonly used: UsedAmount;
  /** Reserved by calls in progress. */
  readonly held: Amount;
  readonly resetsAt: number;
}

export interface BudgetView extends BudgetLimitsView {
  readonly userId: string;
  /** The limits are this user's own, not those of everyone. */
  readonly isOwn: boolean;
  readonly usage: Readonly<Record<BudgetWindow, BudgetUsageView>>;
}

export interface TeamBudgetView extends BudgetLimitsView {
  readonly team: string;
  readonly usage: Readonly<Record<BudgetWindow, BudgetUsageView>>;
}

export interface BudgetList {
  /** The limits of users who have none of their own. */
  readonly everyone: BudgetLimitsView;
  /** Users with limits of their own, or with usage in this month. The one closest to a limit comes first. */
  readonly budgets: readonly BudgetView[];
  /** Whether there are more users than a list holds. */
  readonly isTruncated: boolean;
  /** Teams with limits, or with usage in this month. For admins only. */
  readonly teams?: readonly TeamBudgetView[];
}
