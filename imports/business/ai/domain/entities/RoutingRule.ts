/** A name that requests use as their `model`, and the models that serve it. */
import type { RouteDefaults } from '../types/LLMTypes';

/**
 * Which target is called first. `fallback`: the first of the list. `weighted`: one at random, in proportion to the
 * weights. `latency`: the one that has answered fastest. The others follow if it fails.
 */
export const ROUTING_STRATEGIES = ['fallback', 'weighted', 'latency'] as const;
export type RoutingStrategy = (typeof ROUTING_STRATEGIES)[number];

export interface RoutingTarget {
  /** `provider/model`, or `provider` for its default model. */
  readonly model: string;
  /** The share of the requests, relative to the other targets. Default: 1. */
  readonly weight?: number | undefined;
}

export interface RoutingRule {
  readonly name: string;
  readonly description?: string | undefined;
  readonly targets: readonly RoutingTarget[];
  readonly strategy: RoutingStrategy;
  /** Limit of each attempt, in milliseconds, until its response is complete. Default: the provider's. */
  readonly timeout?: number | undefined;
  /** Limit of each attempt at a stream, in milliseconds, until the first piece of its content. Default: none. */
  readonly firstTokenTimeout?: number | undefined;
  /** Further attempts at the same target. Default: the router's policy. */
  readonly maxRetries?: number | undefined;
  /** For requests that set no value of their own. */
  readonly defaults?: RouteDefaults | undefined;
  /** A rule that is not enabled does not exist for requests. */
  readonly enabled: boolean;
}

export const MAX_RULE_TARGETS = 20;

export function providerOfTarget({ model }: RoutingTarget): string {
  const slash = model.indexOf('/');
  return slash === -1 ? model : model.slice(0, slash);
}

/** The model of a target, without the provider. Undefined for the provider's default. */
export function modelOfTarget({ model }: RoutingTarget): string | undefined {
  const slash = model.indexOf('/');
  return slash === -1 ? undefined : model.slice(slash + 1);
}
