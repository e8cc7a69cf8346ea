/** The operator's rules on which users may use which tools. */
import * as v from 'valibot';
import type { ToolRule } from '../../business/ai/domain/entities/toolRules';
import { object } from '../schemas';
import { defineSettings, setting } from './defineSettings';
import { json, shaped } from './settingReaders';

const FORM = 'a JSON list of rules, such as [{"tools":["delete_*","hosted:code_interpreter"],"roles":["staff"]}]';

export const toolRuleSettings = defineSettings({
  toolRules: setting('AI_TOOL_RULES', json(FORM, readRules), 'none').means(
    'Who may use which tools of the server and of vendors: a JSON list of [rules](../guides/providers.md#tools-by-user). In `Meteor.settings.ai` also as a list.',
  ),
});

const names = v.array(v.pipe(v.string('must be a name'), v.nonEmpty('must be a name')), 'must be a list of names');
const rule = object({
  tools: v.pipe(names, v.nonEmpty('must name the tools that the rule is about')),
  users: v.exactOptional(names),
  roles: v.exactOptional(names),
  teams: v.exactOptional(names),
});
const rules = shaped(v.array(rule, `must be ${FORM}`));

function readRules(given: unknown, name: string): readonly ToolRule[] {
  return rules(given, name).map((each, index) => ({ ...each, place: `${name}[${index}]` }));
}
