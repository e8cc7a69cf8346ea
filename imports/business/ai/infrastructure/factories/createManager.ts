/** Creates the manager and composes the decorators of its model calls. */
import { BudgetedProvider } from '../../application/services/budgets/BudgetedProvider';
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
  ports: ManagerPorts,
): LLMManager {
  const budgets = settings === undefined ? undefined : createReservations(settings, ports);
  return new LLMManager({
    ...options,
    // Decorators of every model call, from the inside out.
    decorate: (router) => (budgets === undefined ? router : new BudgetedProvider(router, budgets)),
  });
}

function createReservations(
  { users = {}, ...defaults }: BudgetSettings,
  { budgets: store = new MemoryBudgetStore(), logger }: ManagerPorts,
): BudgetReservations {
  const limitsOf = (userId: string): BudgetLimits | undefined => {
    const limits = Object.hasOwn(users, userId) ? users[userId] : defaults;
    return limits?.day === undefined && limits?.month === undefined ? undefined : limits;
  };
  return new BudgetReservations({ store, limitsOf, ...(logger === undefined ? {} : { logger }) });
}
