import { endOfWindow, openBudget, usageOf } from '../../ai/domain/entities/BudgetAccount';
import type { BudgetAccount, BudgetWindow } from '../../ai/domain/entities/BudgetAccount';
import type { BudgetUsageView } from '../domain/BudgetViews';

/** What an account has used in each window at the given time. @param account undefined: nothing was used yet */
export function budgetUsageAt(
  id: string,
  account: BudgetAccount | undefined,
  now: number,
): Readonly<Record<BudgetWindow, BudgetUsageView>> {
  const { day, month } = usageOf(account ?? openBudget(id, now), now);
  return {
    day: { ...day, resetsAt: endOfWindow('day', now) },
    month: { ...month, resetsAt: endOfWindow('month', now) },
  };
}
