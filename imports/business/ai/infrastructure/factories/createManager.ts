/** Creates the manager and composes the decorators of its model calls. */
import { BudgetedProvider } from '../../application/services/budgets/BudgetedProvider';
import type { BudgetPolicy } from '../../application/services/budgets/BudgetPolicy';
import { BudgetReservations } from '../../application/services/budgets/BudgetReservations';
import { CachedProvider } from '../../application/services/cache/CachedProvider';
import { MemoryResponseCache } from '../../application/services/cache/MemoryResponseCache';
import { LoggedProvider } from '../../application/services/requests/LoggedProvider';
import { LLMManager } from '../../application/services/LLMManager';
import type { LLMManagerOptions } from '../../application/services/LLMManager';
import type { ResilientProvider } from '../../application/services/routing/ResilientProvider';
import type { BudgetStore } from '../../domain/interfaces/BudgetStore';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ResponseCache } from '../../domain/interfaces/ResponseCache';
import type { RequestLog } from '../../domain/interfaces/RequestLog';
import { MemoryBudgetStore } from '../persistence/budgets/MemoryBudgetStore';

export interface ManagerPorts {
  readonly budgets?: BudgetStore;
  /** Receives an entry for each call. Default: calls are not logged. */
  readonly requestLog?: RequestLog;
  /** Answers repeated requests that ask for it; `false` answers none. Default: in memory. */
  readonly responseCache?: ResponseCache | false;
  readonly logger?: Logger;
  /** Milliseconds since the epoch, for the age of cached responses. Default: the system's clock. */
  readonly now?: () => number;
}

export function createManager(options: LLMManagerOptions, policy: BudgetPolicy, ports: ManagerPorts): LLMManager {
  const budgets = createReservations(policy, ports);
  return new LLMManager({
    ...options,
    // Decorators of every model call, from the inside out.
    decorate: (router) => {
      const { requestLog, responseCache: cache = new MemoryResponseCache(), logger, now } = ports;
      const routeOf: ResilientProvider['routeOf'] = (model) => router.routeOf(model);
      let provider: ILLMProvider = router;
      if (budgets !== undefined) provider = new BudgetedProvider(router, budgets, logger);
      if (cache !== false)
        provider = new CachedProvider(provider, {
          cache,
          routeOf,
          ...(logger === undefined ? {} : { logger }),
          ...(now === undefined ? {} : { now }),
        });
      if (requestLog !== undefined) provider = new LoggedProvider(provider, { log: requestLog, routeOf });
      return provider;
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
