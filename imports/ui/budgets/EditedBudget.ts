/** The limits that a dialog changes or removes. */
import type { BudgetLimitsView } from '../../business/ai/domain/types/BudgetViews';

/** `userId` undefined: the limits of everyone. */
export interface EditedBudget {
  readonly userId: string | undefined;
  readonly current: BudgetLimitsView | undefined;
}
