/** Routing rules from `Meteor.settings.ai.routing`, and from LLM_ROUTING: JSON, or the path of a JSON file. */
import { ruleFields, ruleName } from '../../business/ai/application/operations/routingRuleSchema';
import type { RoutingRule } from '../../business/ai/domain/entities/RoutingRule';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/util/json';
import { object, readArgument } from '../schemas';
import { invalidSetting, SettingProblems } from './SettingProblems';

const named = object({ name: ruleName });
const unnamed = object(ruleFields);

/**
 * `{ "fast": { "targets": ["groq/llama-3.3-70b-versatile", "openai/gpt-5-mini"] } }`: rules by name. Instead of a rule,
 * a name may have its only target, or the list of its targets.
 * @param source where they are from, for errors
 * @throws LLMInvalidRequestError that names every invalid rule
 */
export function readRoutingRules(given: unknown, source: string): readonly RoutingRule[] {
  if (!isObject(given)) throw invalidSetting(source, `${source} must be an object of routing rules by name.`);
  const problems = new SettingProblems();
  const rules = Object.entries(given).flatMap(([name, value]) => {
    try {
      readArgument(named, { name });
      const fields = typeof value === 'string' ? { targets: [value] } : isList(value) ? { targets: value } : value;
      return [{ name, ...readArgument(unnamed, fields) }];
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      problems.add(source, `${source}: rule ${JSON.stringify(name)}: ${error.message}`);
      return [];
    }
  });
  problems.throwIfAny();
  return rules;
}
