/** The manager, with budgets around its calls where the operator sets any. */
import { BudgetedManager } from '../../application/services/budgets/BudgetedManager';
import { BudgetReservations } from '../../application/services/budgets/BudgetReservations';
import { LLMManager } from '../../application/services/LLMManager';
import type { LLMManagerOptions } from '../../application/services/LLMManager';
import type { BudgetLimits } from '../../domain/entities/BudgetAccount';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { Logger } from '../../domain/interfaces/Logger';
import { MemoryBudgetStore } from '../persistence/budgets/MemoryBudgetStore';

/** What every user may use in a day and in a month (UTC). */
export interface BudgetSettings extends BudgetLimits {
  /** By user id, in place of what every user may use; `{}` is no limit. */
  readonly users?: Readonly<Record<string, BudgetLimits>>;
}

export interface ManagerPorts {
  readonly budgets?: BudgetStore;
  readonly logger?: Logger;
}

export function createManager(
  options: LLMManagerOptions,
  settings: BudgetSettings | undefined,
  { budgets, logger }: ManagerPorts,
): LLMManager {
  if (settings === undefined) return new LLMManager(options);
  const { users = {}, ...everybody } = settings;
  const limitsOf = (userId: string): BudgetLimits | undefined => {
    const limits = Object.hasOwn(users, userId) ? users[userId] : everybody;
    return limits?.day === undefined && limits?.month === undefined ? undefined : limits;
  };
  const store = budgets ?? new MemoryBudgetStore();
  return new BudgetedManager({
    ...options,
    budgets: new BudgetReservations({ store, limitsOf, ...(logger === undefined ? {} : { logger }) }),
  });
}
