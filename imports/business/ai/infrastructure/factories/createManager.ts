/** Creates the manager and composes the decorators of its model calls. */
import type { PromptSource } from '../../domain/interfaces/PromptSource';
import { PromptedProvider } from '../../application/services/routing/PromptedProvider';
import { BackgroundProvider } from '../../application/services/routing/BackgroundProvider';
import { BudgetedProvider } from '../../../limits/application/BudgetedProvider';
import { CachedProvider } from '../../application/services/routing/cache/CachedProvider';
import { MemoryResponseCache } from '../../application/services/routing/cache/MemoryResponseCache';
import { GuardedProvider } from '../../../guardrails/application/GuardedProvider';
import { GuardrailChain } from '../../../guardrails/application/GuardrailChain';
import { LoggedProvider } from '../../../requestLog/application/LoggedProvider';
import type { ModelRouting } from '../../application/services/routing/ModelRouting';
import { RoutedProvider } from '../../application/services/routing/RoutedProvider';
import { OwnedObjectsProvider } from '../../application/services/vendorObjects/OwnedObjectsProvider';
import type { SendGuard } from '../../application/services/SendGuard';
import { LLMManager } from '../../application/services/LLMManager';
import type { LLMManagerOptions } from '../../application/services/LLMManager';
import type { ResilientProvider } from '../../application/services/routing/ResilientProvider';
import type { BackgroundCallStore } from '../../domain/interfaces/BackgroundCalls';
import type { Guardrail } from '../../domain/interfaces/Guardrail';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ResponseCache } from '../../domain/interfaces/ResponseCache';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { RequestLog } from '../../../requestLog/domain/RequestLog';
import type { Telemetry } from '../telemetry/Telemetry';
import type { CallLimits } from '../../../limits/createCallLimits';

export interface ManagerPorts {
  /** Receives an entry for each call. Default: calls are not logged. */
  readonly requestLog?: RequestLog | undefined;
  /** Answers repeated requests that ask for it; `false` answers none. Default: in memory. */
  readonly responseCache?: ResponseCache | false;
  /** Default: no model is the name of a routing rule. */
  readonly routing?: ModelRouting;
  /** Check every call, in this order. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Default: calls may use every tool, and name every object, of a vendor's account. */
  readonly sendGuard?: SendGuard;
  /** Finds calls in the background after a crash. Default: they are not found. */
  readonly backgroundCalls?: BackgroundCallStore;
  /** Default: no prompt can be named. */
  readonly prompts?: PromptSource | undefined;
  readonly logger?: Logger;
  /** Traces every call. Default: calls are not traced. */
  readonly telemetry?: Telemetry;
  /** Milliseconds since the epoch, for the age of cached responses. Default: the system's clock. */
  readonly now?: () => number;
  /** The model of a provider that a request without one gets. */
  readonly defaultModelOf: (providerId: string) => string | undefined;
}

export function createManager(options: LLMManagerOptions, limits: CallLimits, ports: ManagerPorts): LLMManager {
  const { routing, guardrails = [], sendGuard } = ports;
  const chain = guardrails.length === 0 ? undefined : new GuardrailChain(guardrails, ports.logger);
  const { telemetry } = ports;
  return new LLMManager({
    ...options,
    // The calls are traced below, where the model of a routing rule is known.
    ...omitUndefined({ instrumentation: telemetry?.runInstrumentation, routeStats: routing?.stats }),
    // Decorators of every model call, from the inside out.
    decorate: (router) => {
      const { requestLog, responseCache: cache = new MemoryResponseCache(), logger, now, defaultModelOf } = ports;
      const routeOf: ResilientProvider['routeOf'] = (model) => router.routeOf(model);
      const limiters = limits.limiters({ routeOf, defaultModelOf });
      const guarded = sendGuard === undefined ? router : new OwnedObjectsProvider(router, sendGuard);
      const { backgroundCalls } = ports;
      const durable = backgroundCalls === undefined ? guarded : new BackgroundProvider(guarded, backgroundCalls);
      let provider: ILLMProvider = durable;
      if (limiters.length > 0) provider = new BudgetedProvider(durable, limiters, logger);
      if (chain !== undefined) provider = new GuardedProvider(provider, chain);
      if (cache !== false)
        provider = new CachedProvider(provider, {
          cache,
          routeOf,
          version: chain?.version,
          logger,
          now,
        });
      if (requestLog !== undefined) provider = new LoggedProvider(provider, { log: requestLog, routeOf });
      if (telemetry !== undefined) provider = telemetry.traceProvider(provider, routeOf);
      provider = new PromptedProvider(provider, ports.prompts);
      // The others see the model that is called, rather than the name of a rule.
      return routing === undefined ? provider : new RoutedProvider(provider, routing);
    },
  });
}
