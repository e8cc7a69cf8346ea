/** Routing rules from `Meteor.settings.ai.routing`, and from LLM_ROUTING: JSON, or the path of a JSON file. */
import { ruleFields, ruleName } from '../../business/ai/application/operations/routingRuleSchema';
import type { RoutingRule } from '../../business/ai/domain/entities/RoutingRule';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import { object, readArgument } from '../schemas';
import { readJsonVariable } from './readJsonVariable';

export const ROUTING_VARIABLE = 'LLM_ROUTING';

const named = object({ name: ruleName });
const unnamed = object(ruleFields);

/**
 * `{ "fast": { "targets": ["groq/llama-3.3-70b-versatile", "openai/gpt-5-mini"] } }`: rules by name. Instead of a rule,
 * a name may have its only target, or the list of its targets.
 * @param settings `Meteor.settings.ai.routing`; a rule replaces that of the same name in the variable
 * @param providerIds of the settings
 * @param problems receives a description of everything that is invalid
 */
export function readRoutingSettings(
  settings: unknown,
  variable: string | undefined,
  providerIds: readonly string[],
  problems: string[],
): readonly RoutingRule[] {
  const given = variable === undefined ? undefined : readJsonVariable(ROUTING_VARIABLE, variable, problems);
  const rules = new Map([
    ...readRules(given, ROUTING_VARIABLE, providerIds, problems),
    ...readRules(settings, 'Meteor.settings.ai.routing', providerIds, problems),
  ]);
  return [...rules.values()];
}

function readRules(
  given: unknown,
  source: string,
  providerIds: readonly string[],
  problems: string[],
): readonly (readonly [string, RoutingRule])[] {
  if (given === undefined || given === null) return [];
  if (!isObject(given)) {
    problems.push(`${source} must be an object of routing rules by name`);
    return [];
  }
  return Object.entries(given).flatMap(([name, value]) => {
    try {
      readArgument(named, { name });
      if (providerIds.includes(name)) throw new LLMInvalidRequestError('"name" is the id of a provider.');
      const fields = typeof value === 'string' ? { targets: [value] } : isList(value) ? { targets: value } : value;
      return [[name, { name, ...readArgument(unnamed, fields) }] as const];
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      problems.push(`${source}: rule ${JSON.stringify(name)}: ${error.message.replace(/\.$/, '')}`);
      return [];
    }
  });
}
