/** The order in which a rule's targets are called. */
import { createHash } from 'node:crypto';
import type { RoutingRule, RoutingTarget } from '../../../domain/entities/RoutingRule';
import type { OwnedConversation, ResponseKind, RouteStats } from './RouteStats';

export interface OrderContext {
  readonly userId: string;
  readonly stats: Pick<RouteStats, 'isPaused' | 'latencyOf' | 'targetOf'>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly kind: ResponseKind;
  /** The conversation, whose requests go to the same target. */
  readonly conversation?: OwnedConversation | undefined;
  /** The provider that has stored what the request continues. */
  readonly keeper?: string | undefined;
}

/** Targets this much slower than the fastest still count as fast. */
const TOLERANCE = 1.2;
/** A conversation leaves a target that is this much slower than the fastest: its prompt cache is worth something. */
const LOYALTY = 3;
/** The share of requests that measure another target, so that a slow one can recover. */
const EXPLORATION = 0.05;

/** @param targets those of the rule that may be used @returns the same targets, the one to call first at the start */
export function orderTargets(
  { name, strategy }: Pick<RoutingRule, 'name' | 'strategy'>,
  targets: readonly RoutingTarget[],
  context: OrderContext,
): readonly RoutingTarget[] {
  const ordered = ORDERS[strategy](name, targets, context);
  const { keeper, stats, userId } = context;
  // Spared targets come last, unless only they can serve the request.
  return sortBy(ordered, (target) =>
    keeper !== undefined && isOf(target, keeper) ? -1 : Number(stats.isPaused(name, target.model, userId)),
  );
}

type Order = (rule: string, targets: readonly RoutingTarget[], context: OrderContext) => readonly RoutingTarget[];

const ORDERS: Readonly<Record<RoutingRule['strategy'], Order>> = {
  fallback: (_rule, targets) => targets,
  weighted: (rule, targets, context) => byWeight(rule, targets, context),
  latency: byLatency,
};

/**
 * Draws without replacement, in proportion to the weights: the order of `-ln(u) / weight`, with a uniform `u` for each
 * target (Efraimidis and Spirakis, 2006). For a conversation, `u` is a hash, so every process draws the same, and a
 * target that comes or goes moves only its own share (rendezvous hashing).
 */
function byWeight(
  rule: string,
  targets: readonly RoutingTarget[],
  { random, conversation }: Pick<OrderContext, 'random' | 'conversation'>,
): readonly RoutingTarget[] {
  return sortBy(targets, ({ model, weight = 1 }) => {
    const uniform = conversation === undefined ? random() : hashed(rule, model, conversation.name);
    // A target without weight comes after all others.
    return weight === 0 ? Infinity : -Math.log(Math.max(uniform, Number.MIN_VALUE)) / weight;
  });
}

function byLatency(rule: string, targets: readonly RoutingTarget[], context: OrderContext): readonly RoutingTarget[] {
  const { userId, stats, kind, random, conversation } = context;
  const latency = ({ model }: RoutingTarget): number | undefined => stats.latencyOf(model, kind);
  const usable = targets.filter(({ model }) => !stats.isPaused(rule, model, userId));
  const fastest = Math.min(...usable.map((target) => latency(target) ?? Infinity));
  const bySpeed = sortBy(byWeight(rule, targets, { random }), (target) => latency(target) ?? fastest);
  const first = (target: RoutingTarget): readonly RoutingTarget[] => [
    target,
    ...bySpeed.filter((each) => each !== target),
  ];
  const loyal =
    conversation === undefined ? undefined : usable.find(({ model }) => model === stats.targetOf(rule, conversation));
  if (loyal !== undefined && (latency(loyal) ?? 0) <= LOYALTY * fastest) return first(loyal);
  const unmeasured = bySpeed.find((target) => usable.includes(target) && latency(target) === undefined);
  if (unmeasured !== undefined) return first(unmeasured);
  const [explored] = byWeight(rule, usable, { random });
  if (explored !== undefined && random() < EXPLORATION) return first(explored);
  const fast = usable.filter((target) => (latency(target) ?? fastest) <= TOLERANCE * fastest);
  const [chosen] = byWeight(rule, fast, { random });
  return chosen === undefined ? bySpeed : first(chosen);
}

function isOf({ model }: RoutingTarget, provider: string): boolean {
  return model === provider || model.startsWith(`${provider}/`);
}

/** Uniform from 0 to 1. */
function hashed(...parts: readonly string[]): number {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/** Stable. Computes each key once. */
function sortBy<T>(values: readonly T[], keyOf: (value: T) => number): readonly T[] {
  return values
    .map((value) => ({ value, key: keyOf(value) }))
    .sort((left, right) => (left.key === right.key ? 0 : left.key - right.key))
    .map(({ value }) => value);
}
