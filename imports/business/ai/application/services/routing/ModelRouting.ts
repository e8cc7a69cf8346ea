/** Selects the targets that serve a request whose `model` is the name of a routing rule. */
import { unknownModel } from '../../../domain/errors/unknownModel';
import { modelOfTarget, providerOfTarget } from '../../../domain/entities/RoutingRule';
import type { RoutingRule, RoutingTarget } from '../../../domain/entities/RoutingRule';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions, SelectedRoute } from '../../../domain/types/LLMTypes';
import type { WireName } from '../../../domain/types/VendorTypes';
import { commonCapabilities } from './commonCapabilities';
import { conversationOf } from './conversationOf';
import { orderTargets } from './orderTargets';
import type { OrderContext } from './orderTargets';
import type { RouteStats } from './RouteStats';
import type { RoutingRules } from './RoutingRules';

/** What routing needs to know about the providers. */
export interface RoutableProviders {
  rows(): readonly { readonly id: string; readonly allowedModels?: readonly string[] }[];
  get(id: string): Pick<ILLMProvider, 'getCapabilities'> | undefined;
}

export interface ModelRoutingPorts {
  readonly rules: RoutingRules;
  readonly stats: RouteStats;
  readonly providers: RoutableProviders;
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface RouteRequest {
  readonly userId: string;
  /** What the request says about its conversation. */
  readonly options?: GenerateOptions | undefined;
  readonly isStream?: boolean;
  /** Whether the caller may use a target. Default: all. */
  readonly permits?: ((target: RoutingTarget) => boolean) | undefined;
  /** The provider that has stored what the request continues. */
  readonly keeper?: OrderContext['keeper'] | undefined;
}

export class ModelRouting {
  readonly rules: RoutingRules;
  readonly stats: RouteStats;
  private readonly providers: RoutableProviders;
  private readonly random: () => number;

  constructor({ rules, stats, providers, random = Math.random }: ModelRoutingPorts) {
    this.rules = rules;
    this.stats = stats;
    this.providers = providers;
    this.random = random;
  }

  /** The targets whose provider exists and offers the model. */
  usableTargets({ targets }: Pick<RoutingRule, 'targets'>): readonly RoutingTarget[] {
    const rows = new Map(this.providers.rows().map((row) => [row.id, row]));
    return targets.filter((target) => {
      const row = rows.get(providerOfTarget(target));
      const model = modelOfTarget(target);
      return row !== undefined && (model === undefined || row.allowedModels?.includes(model) !== false);
    });
  }

  /**
   * @param rule one of `rules`
   * @throws LLMModelNotFoundError if no target is left, which reveals neither the rule nor its targets
   */
  select(
    rule: RoutingRule,
    { userId, options, isStream = false, permits = () => true, keeper }: RouteRequest,
  ): SelectedRoute {
    const { name, timeout, firstTokenTimeout, maxRetries, defaults } = rule;
    const usable = this.usableTargets(rule).filter(permits);
    if (usable.length === 0) throw unknownModel(name);
    const conversation = options === undefined ? undefined : conversationOf(options);
    const targets = orderTargets(rule, usable, {
      userId,
      stats: this.stats,
      random: this.random,
      kind: isStream ? 'stream' : 'complete',
      conversation: conversation === undefined ? undefined : { userId, name: conversation },
      keeper,
    });
    return omitUndefined({
      name,
      targets: targets.map(({ model }) => model),
      timeout,
      firstTokenTimeout,
      maxRetries,
      defaults,
      conversation,
    });
  }

  /** What all of these targets can do. Undefined if none of them is usable. */
  capabilitiesOf(targets: readonly RoutingTarget[], wire?: WireName): ModelCapabilities | undefined {
    return commonCapabilities(
      this.usableTargets({ targets }).flatMap((target) => {
        const provider = this.providers.get(providerOfTarget(target));
        return provider === undefined ? [] : [provider.getCapabilities(modelOfTarget(target) ?? '', wire)];
      }),
    );
  }
}
