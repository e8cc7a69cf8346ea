/** The operator's rules on which users may use which tools. */
import { isList, isObject } from '../../business/ai/domain/json';
import type { ToolRule } from '../../business/ai/domain/entities/toolRules';
import { SettingProblems } from './SettingProblems';

const NAME = 'AI_TOOL_RULES';
const LISTS = ['tools', 'users', 'roles', 'teams'] as const;
const EXAMPLE = '[{"tools":["delete_*","hosted:code_interpreter"],"roles":["staff"]}]';

/**
 * AI_TOOL_RULES: a JSON list of `{ tools, users?, roles?, teams? }`. Default: no rules.
 * @param given the JSON, or what it stands for
 * @throws LLMInvalidRequestError that names every invalid rule
 */
export function readToolRules(given: unknown): readonly ToolRule[] {
  const problems = new SettingProblems();
  const rules = listIn(given, problems).map((rule, index) => readRule(rule, `${NAME}[${index}]`, problems));
  problems.throwIfAny();
  return rules;
}

function listIn(given: unknown, problems: SettingProblems): readonly unknown[] {
  if (given === undefined || given === '') return [];
  const value = typeof given === 'string' ? parsed(given) : given;
  if (isList(value)) return value;
  problems.add(NAME, `${NAME} must be a JSON list of rules, such as ${EXAMPLE}.`);
  return [];
}

/** @returns undefined for what is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readRule(rule: unknown, place: string, problems: SettingProblems): ToolRule {
  const fields = isObject(rule) ? rule : {};
  const unknown = Object.keys(fields).find((name) => !LISTS.some((known) => known === name));
  if (unknown !== undefined)
    problems.add(NAME, `${place} has the unknown field "${unknown.slice(0, 100)}". Known are ${LISTS.join(', ')}.`);
  for (const name of LISTS)
    if (fields[name] !== undefined && !isListOfNames(fields[name]))
      problems.add(NAME, `${place}.${name} must be a list of names.`);
  if (!isList(fields['tools']) || fields['tools'].length === 0)
    problems.add(NAME, `${place} must be an object whose "tools" are the names that it is about.`);
  // Boundary: checked above; with a problem, no rule is used.
  return { ...(fields as unknown as Omit<ToolRule, 'place'>), place };
}

function isListOfNames(value: unknown): boolean {
  return isList(value) && value.every((name) => typeof name === 'string' && name !== '');
}
