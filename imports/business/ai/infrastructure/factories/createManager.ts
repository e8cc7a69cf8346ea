/** Creates the manager, with budgets if the operator sets any. */
import { BudgetReservations } from '../../application/services/budgets/BudgetReservations';
import { LLMManager } from '../../application/services/LLMManager';
import type { LLMManagerOptions } from '../../application/services/LLMManager';
import type { BudgetLimits } from '../../domain/entities/BudgetAccount';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { Logger } from '../../domain/interfaces/Logger';
import { MemoryBudgetStore } from '../persistence/budgets/MemoryBudgetStore';

/** Limits of every user for a day and a month (UTC). */
export interface BudgetSettings extends BudgetLimits {
  /** By user id, instead of the limits of every user. `{}` means no limits. */
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
  const { users = {}, ...defaults } = settings;
  const limitsOf = (userId: string): BudgetLimits | undefined => {
    const limits = Object.hasOwn(users, userId) ? users[userId] : defaults;
    return limits?.day === undefined && limits?.month === undefined ? undefined : limits;
  };
  const store = budgets ?? new MemoryBudgetStore();
  return new LLMManager({
    ...options,
    budgets: new BudgetReservations({ store, limitsOf, ...(logger === undefined ? {} : { logger }) }),
  });
}
