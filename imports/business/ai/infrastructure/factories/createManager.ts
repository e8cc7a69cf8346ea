/** Creates the manager and composes the decorators of its model calls. */
import { BudgetedProvider } from '../../application/services/budgets/BudgetedProvider';
import type { BudgetPolicy } from '../../application/services/budgets/BudgetPolicy';
import { BudgetReservations } from '../../application/services/budgets/BudgetReservations';
import { LoggedProvider } from '../../application/services/requests/LoggedProvider';
import { LLMManager } from '../../application/services/LLMManager';
import type { LLMManagerOptions } from '../../application/services/LLMManager';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RequestLog } from '../../domain/interfaces/RequestLog';
import { MemoryBudgetStore } from '../persistence/budgets/MemoryBudgetStore';

export interface ManagerPorts {
  readonly budgets?: BudgetStore;
  /** Receives an entry for each call. Default: calls are not logged. */
  readonly requestLog?: RequestLog;
  readonly logger?: Logger;
}

export function createManager(options: LLMManagerOptions, policy: BudgetPolicy, ports: ManagerPorts): LLMManager {
  const budgets = createReservations(policy, ports);
  return new LLMManager({
    ...options,
    // Decorators of every model call, from the inside out.
    decorate: (router) => {
      const { requestLog } = ports;
      const budgeted: ILLMProvider =
        budgets === undefined ? router : new BudgetedProvider(router, budgets, ports.logger);
      return requestLog === undefined
        ? budgeted
        : new LoggedProvider(budgeted, { log: requestLog, routeOf: (model) => router.routeOf(model) });
    },
  });
}

function createReservations(
  policy: BudgetPolicy,
  { budgets: store = new MemoryBudgetStore(), logger }: ManagerPorts,
): BudgetReservations | undefined {
  if (!policy.hasLimits) return undefined;
  return new BudgetReservations({
    store,
    limitsOf: (userId) => policy.limitsOf(userId),
    countsEveryone: policy.isChangeable,
    ...(logger === undefined ? {} : { logger }),
  });
}
