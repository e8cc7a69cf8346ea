/** A name that requests use as their `model`, and the models that serve it. */
import { boolean, integer, invalid, line, listOf, numberBetween, oneOf, optional, readObject } from '../arguments';
import { required, text } from '../arguments';
import type { ArgumentReader } from '../arguments';
import type { RouteDefaults } from '../types/LLMTypes';
import { isList } from '../json';

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
  readonly weight?: number;
}

export interface RoutingRule {
  readonly name: string;
  readonly description?: string;
  readonly targets: readonly RoutingTarget[];
  readonly strategy: RoutingStrategy;
  /** Limit of each attempt, in milliseconds, until its response is complete. Default: the provider's. */
  readonly timeout?: number;
  /** Limit of each attempt at a stream, in milliseconds, until the first piece of its content. Default: none. */
  readonly firstTokenTimeout?: number;
  /** Further attempts at the same target. Default: the router's policy. */
  readonly maxRetries?: number;
  /** For requests that set no value of their own. */
  readonly defaults?: RouteDefaults;
  /** A rule that is not enabled does not exist for requests. */
  readonly enabled: boolean;
}

export const MAX_RULE_TARGETS = 20;
const MAX_NAME_LENGTH = 128;
const MAX_MODEL_LENGTH = 256;
const MAX_MILLISECONDS = 3_600_000;
const MAX_TOKENS = 10_000_000;
const MAX_INSTRUCTIONS = 100_000;

export const RULE_FIELDS = [
  'description',
  'targets',
  'strategy',
  'timeout',
  'firstTokenTimeout',
  'maxRetries',
  'defaults',
  'enabled',
] as const;

/** A name has no slash, so that it never looks like `provider/model`. */
export const readRuleName: ArgumentReader<string> = (value, path) => {
  if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH && /^[A-Za-z0-9][\w.:@-]*$/.test(value))
    return value;
  throw invalid(
    path,
    `must be 1 to ${MAX_NAME_LENGTH} letters, digits and characters of "._:@-", and start with a letter or digit`,
  );
};

/**
 * @param fields those of `RULE_FIELDS`; a target may be its model alone
 * @param path where the fields are; empty for the argument itself
 * @throws LLMInvalidRequestError that names the field
 */
export function readRule(name: string, fields: unknown, path = ''): RoutingRule {
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`);
  const given = readObject(fields, RULE_FIELDS, path);
  const { strategy = 'fallback' } = optional(given, 'strategy', oneOf(ROUTING_STRATEGIES), at('strategy'));
  const { enabled = true } = optional(given, 'enabled', boolean, at('enabled'));
  const time = integer(1, MAX_MILLISECONDS);
  return {
    name,
    ...optional(given, 'description', line(500), at('description')),
    targets: required(given, 'targets', readTargets, at('targets')),
    strategy,
    ...optional(given, 'timeout', time, at('timeout')),
    ...optional(given, 'firstTokenTimeout', time, at('firstTokenTimeout')),
    ...optional(given, 'maxRetries', integer(0, 10), at('maxRetries')),
    ...optional(given, 'defaults', readDefaults, at('defaults')),
    enabled,
  };
}

const readTargets: ArgumentReader<readonly RoutingTarget[]> = (value, path) => {
  if (!isList(value) || value.length === 0) throw invalid(path, 'must be a list with at least one target');
  const targets = listOf(MAX_RULE_TARGETS, readTarget)(value, path);
  const repeated = targets.findIndex(({ model }, index) => targets.findIndex((each) => each.model === model) < index);
  if (repeated !== -1) throw invalid(`${path}[${repeated}].model`, 'is the same as that of an earlier target');
  if (targets.every(({ weight }) => weight === 0)) throw invalid(path, 'must have a target with a weight above 0');
  return targets;
};

const readTarget: ArgumentReader<RoutingTarget> = (value, path) => {
  if (typeof value === 'string') return { model: readModel(value, path) };
  const fields = readObject(value, ['model', 'weight'], path);
  return {
    model: required(fields, 'model', readModel, `${path}.model`),
    ...optional(fields, 'weight', numberBetween(0, 1_000_000), `${path}.weight`),
  };
};

const readModel: ArgumentReader<string> = (value, path) => {
  if (
    typeof value === 'string' &&
    value.length <= MAX_MODEL_LENGTH &&
    /^[A-Za-z0-9][\w.-]*(?:\/[^\s\p{C}]+)?$/u.test(value)
  )
    return value;
  throw invalid(path, 'must be "provider/model", or "provider" for its default model');
};

const readDefaults: ArgumentReader<RouteDefaults> = (value, path) => {
  const fields = readObject(value, ['temperature', 'top_p', 'max_output_tokens', 'reasoning', 'instructions'], path);
  return {
    ...optional(fields, 'temperature', numberBetween(0, 2), `${path}.temperature`),
    ...optional(fields, 'top_p', numberBetween(0, 1), `${path}.top_p`),
    ...optional(fields, 'max_output_tokens', integer(1, MAX_TOKENS), `${path}.max_output_tokens`),
    ...optional(fields, 'reasoning', readReasoning, `${path}.reasoning`),
    ...optional(fields, 'instructions', text(MAX_INSTRUCTIONS), `${path}.instructions`),
  };
};

const readReasoning: ArgumentReader<NonNullable<RouteDefaults['reasoning']>> = (value, path) => ({
  effort: required(readObject(value, ['effort'], path), 'effort', line(20), `${path}.effort`),
});

/** The provider of a target. */
export function providerOfTarget({ model }: RoutingTarget): string {
  const slash = model.indexOf('/');
  return slash === -1 ? model : model.slice(0, slash);
}

/** The model of a target, without the provider. Undefined for the provider's default. */
export function modelOfTarget({ model }: RoutingTarget): string | undefined {
  const slash = model.indexOf('/');
  return slash === -1 ? undefined : model.slice(slash + 1);
}
