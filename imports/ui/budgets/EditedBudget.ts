/** The limits that a dialog changes or removes. */
import type { BudgetLimitsView } from '../../business/limits/domain/BudgetViews';

/** `userId` undefined: the limits of every user. */
export interface EditedBudget {
  readonly userId: string | undefined;
  /** The limits are those of a team, whose name is `userId`. */
  readonly isTeam?: true;
  readonly current: BudgetLimitsView | undefined;
}

/** The subject, as the operations take it. */
export function subjectOf({ userId, isTeam }: Pick<EditedBudget, 'userId' | 'isTeam'>): {
  readonly userId?: string;
  readonly team?: string;
} {
  if (userId === undefined) return {};
  return isTeam === true ? { team: userId } : { userId };
}
