/** Routing rules, as admins see, save and remove them. */
import { modelOfTarget, providerOfTarget } from '../../domain/entities/RoutingRule';
import type { RoutingRule, RoutingTarget } from '../../domain/entities/RoutingRule';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RoutingRuleStore } from '../../domain/interfaces/RoutingRuleStore';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { RoutingRuleView, RoutingTargetView } from '../../domain/types/RoutingViews';
import type { ModelRouting } from '../services/routing/ModelRouting';
import type { EffectiveRule } from '../services/routing/RoutingRules';

interface RoutedProvider {
  readonly id: string;
  readonly allowedModels?: readonly string[];
}

export interface RoutingAdministrationPorts {
  readonly routing: ModelRouting;
  readonly store: RoutingRuleStore;
  readonly providers: {
    refresh(): Promise<void>;
    rows(): readonly RoutedProvider[];
  };
  /** What the calls of this process have shown about each provider. */
  readonly health: () => ReadonlyMap<string, { readonly circuit: NonNullable<RoutingTargetView['circuit']> }>;
  /** Receives every change, at the level info. */
  readonly logger: Logger;
  /** Called after every change. */
  readonly onChange?: () => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Rules that are stored at once. All are held in memory. */
const MAX_RULES = 1_000;

export class RoutingAdministration {
  private readonly ports: RoutingAdministrationPorts;

  constructor(ports: RoutingAdministrationPorts) {
    this.ports = ports;
  }

  /** By name, with what this process knows about the targets. */
  async list(): Promise<readonly RoutingRuleView[]> {
    const { routing, providers } = this.ports;
    await Promise.all([providers.refresh(), routing.rules.refresh()]);
    return routing.rules.all().map((rule) => this.viewOf(rule));
  }

  /**
   * Replaces the rule of that name, also one of the settings. Other processes notice within two seconds.
   * @throws LLMInvalidRequestError if the name is a provider's, or there are too many rules
   */
  async save(rule: RoutingRule, { userId }: Actor): Promise<RoutingRuleView> {
    const { routing, store, providers, onChange, logger, now = Date.now } = this.ports;
    const { rules } = routing;
    const { name } = rule;
    await Promise.all([providers.refresh(), rules.reload()]);
    if (providers.rows().some(({ id }) => id === name))
      throw new LLMInvalidRequestError(`"name" is the id of a provider. Choose another name.`, { path: 'name' });
    const all = rules.all();
    if (all.length >= MAX_RULES && !all.some((each) => each.rule.name === name))
      throw new LLMInvalidRequestError(`There are ${MAX_RULES} rules already. Remove one first.`, { path: 'name' });
    const change = { changedAt: now(), changedBy: userId };
    await store.save({ rule, ...change });
    await rules.reload();
    onChange?.();
    logger.info(`The routing rule "${name}" was saved.`, { by: userId, rule });
    return this.viewOf({ rule, source: 'dashboard', isOverride: rules.configured(name) !== undefined, ...change });
  }

  /**
   * A rule of the settings with that name applies again.
   * @returns whether there was one @throws LLMInvalidRequestError for a rule of the settings
   */
  async remove(name: string, { userId }: Actor): Promise<boolean> {
    const { routing, store, onChange, logger } = this.ports;
    const { rules } = routing;
    const removed = await store.remove(name);
    await rules.reload();
    if (!removed && rules.configured(name) !== undefined)
      throw new LLMInvalidRequestError(
        `The rule "${name}" is defined in the settings of the server. Save a rule of that name to replace it.`,
        { path: 'name' },
      );
    onChange?.();
    if (removed) logger.info(`The routing rule "${name}" was removed.`, { by: userId });
    return removed;
  }

  private viewOf({ rule, ...source }: EffectiveRule): RoutingRuleView {
    const { routing, providers, health } = this.ports;
    const known = health();
    const targets = rule.targets.map((target): RoutingTargetView => {
      const problem = problemOf(target, providers.rows());
      const circuit = known.get(providerOfTarget(target))?.circuit;
      return {
        ...target,
        ...omitUndefined({ problem, circuit }),
        isPaused: routing.stats.isPaused(rule.name, target.model),
        ...routing.stats.latencies(target.model),
      };
    });
    return { ...rule, ...source, targets };
  }
}

function problemOf(target: RoutingTarget, providers: readonly RoutedProvider[]): string | undefined {
  const provider = providers.find(({ id }) => id === providerOfTarget(target));
  if (provider === undefined) return `There is no provider "${providerOfTarget(target)}".`;
  const model = modelOfTarget(target);
  return model === undefined || provider.allowedModels?.includes(model) !== false
    ? undefined
    : `The provider "${provider.id}" is restricted to other models.`;
}
