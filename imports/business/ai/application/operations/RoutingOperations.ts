/** `ai.routing.*` for any transport: admins see, save and remove routing rules. */
import { readObject, required } from '../../domain/arguments';
import {
  modelOfTarget,
  providerOfTarget,
  readRule,
  readRuleName,
  RULE_FIELDS,
} from '../../domain/entities/RoutingRule';
import type { RoutingRule, RoutingTarget } from '../../domain/entities/RoutingRule';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RoutingRuleStore } from '../../domain/interfaces/RoutingRuleStore';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import type { RoutingRuleView, RoutingTargetView } from '../../domain/types/RoutingViews';
import type { ModelRouting } from '../services/routing/ModelRouting';
import type { EffectiveRule } from '../services/routing/RoutingRules';
import { signedIn } from './RunOperations';

export interface RoutingOperationsPorts {
  readonly routing: ModelRouting;
  readonly store: RoutingRuleStore;
  readonly providers: {
    refresh(): Promise<void>;
    rows(): readonly { readonly id: string; readonly allowedModels?: readonly string[] }[];
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

/** Every operation throws LLMAuthError if nobody is logged in, LLMPermissionError, and LLMInvalidRequestError. */
export interface RoutingOperations {
  /** Rules by name, with what this process knows about their targets. */
  readonly 'ai.routing.list': Operation<{ readonly rules: readonly RoutingRuleView[] }>;
  /**
   * Takes `{ name, targets, strategy?, timeout?, firstTokenTimeout?, maxRetries?, defaults?, description?, enabled? }`
   * and replaces the rule of that name, also one of the settings. Other processes notice within two seconds.
   */
  readonly 'ai.routing.save': Operation<RoutingRuleView>;
  /** Takes `{ name }`. A rule of the settings with that name applies again. */
  readonly 'ai.routing.remove': Operation<{ readonly removed: boolean }>;
}

/** Rules that are stored at once. All are held in memory. */
const MAX_RULES = 1_000;

export function createRoutingOperations(ports: RoutingOperationsPorts): RoutingOperations {
  const { routing, store, providers, health, logger, onChange = () => undefined, now = Date.now } = ports;
  const { rules } = routing;

  const viewOf = ({ rule, ...source }: EffectiveRule): RoutingRuleView => {
    const known = health();
    const targets = rule.targets.map((target): RoutingTargetView => {
      const problem = problemOf(target, providers.rows());
      const circuit = known.get(providerOfTarget(target))?.circuit;
      return {
        ...target,
        ...(problem === undefined ? {} : { problem }),
        ...(circuit === undefined ? {} : { circuit }),
        isPaused: routing.stats.isPaused(rule.name, target.model),
        ...routing.stats.latencies(target.model),
      };
    });
    return { ...rule, ...source, targets };
  };

  return {
    async 'ai.routing.list'(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      await Promise.all([providers.refresh(), rules.refresh()]);
      return { rules: rules.all().map(viewOf) };
    },
    async 'ai.routing.save'(actor, argument) {
      assertAdmin(actor);
      const { name: _, ...fields } = readObject(argument, ['name', ...RULE_FIELDS]);
      const name = required(readObject(argument, ['name', ...RULE_FIELDS]), 'name', readRuleName);
      const rule: RoutingRule = readRule(name, fields);
      await Promise.all([providers.refresh(), rules.reload()]);
      if (providers.rows().some(({ id }) => id === name))
        throw new LLMInvalidRequestError(`"name" is the id of a provider. Choose another name.`, { path: 'name' });
      const all = rules.all();
      if (all.length >= MAX_RULES && !all.some((each) => each.rule.name === name))
        throw new LLMInvalidRequestError(`There are ${MAX_RULES} rules already. Remove one first.`, { path: 'name' });
      const change = { changedAt: now(), changedBy: actor.userId };
      await store.save({ rule, ...change });
      await rules.reload();
      onChange();
      logger.info(`The routing rule "${name}" was saved.`, { by: actor.userId, rule });
      return viewOf({ rule, source: 'dashboard', isOverride: rules.configured(name) !== undefined, ...change });
    },
    async 'ai.routing.remove'(actor, argument) {
      assertAdmin(actor);
      const name = required(readObject(argument, ['name']), 'name', readRuleName);
      const removed = await store.remove(name);
      await rules.reload();
      if (!removed && rules.configured(name) !== undefined)
        throw new LLMInvalidRequestError(
          `The rule "${name}" is defined in the settings of the server. Save a rule of that name to replace it.`,
          { path: 'name' },
        );
      onChange();
      if (removed) logger.info(`The routing rule "${name}" was removed.`, { by: actor.userId });
      return { removed };
    },
  };
}

function assertAdmin(actor: Actor): void {
  signedIn(actor);
  if (actor.isAdmin !== true) throw new LLMPermissionError('Only administrators may see and change routing rules.');
}

function problemOf(
  target: RoutingTarget,
  providers: readonly { readonly id: string; readonly allowedModels?: readonly string[] }[],
): string | undefined {
  const provider = providers.find(({ id }) => id === providerOfTarget(target));
  if (provider === undefined) return `There is no provider "${providerOfTarget(target)}".`;
  const model = modelOfTarget(target);
  return model === undefined || provider.allowedModels?.includes(model) !== false
    ? undefined
    : `The provider "${provider.id}" is restricted to other models.`;
}
