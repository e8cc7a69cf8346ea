import { expect } from 'chai';
import { readSettings } from '../../../../imports/host/settings/defineSettings';
import { toolRuleSettings } from '../../../../imports/host/settings/toolRules';

const readToolRules = (given: unknown) => readSettings(toolRuleSettings, () => given).toolRules;

describe('AI_TOOL_RULES', () => {
  it('is a list of rules, as JSON or as it is, and each knows its place', () => {
    const rule = { tools: ['erase*'], users: ['ann'], roles: ['staff'], teams: ['ops'] };
    const read = [
      { ...rule, place: 'AI_TOOL_RULES[0]' },
      { tools: ['hosted:*'], place: 'AI_TOOL_RULES[1]' },
    ];
    const given = [rule, { tools: ['hosted:*'] }];
    expect(readToolRules(given)).to.deep.equal(read);
    expect(readToolRules(JSON.stringify(given))).to.deep.equal(read);
    for (const none of [undefined, '']) expect(readToolRules(none)).to.equal(undefined);
    expect(readToolRules('[]')).to.deep.equal([]);
  });

  it('is refused where it is anything else, with the place and what is wrong', () => {
    for (const [given, message] of [
      ['{', 'AI_TOOL_RULES must be a JSON list of rules'],
      ['{}', 'AI_TOOL_RULES must be a JSON list of rules'],
      ['[1]', 'AI_TOOL_RULES[0] must be an object'],
      [[{ tools: [] }], 'AI_TOOL_RULES[0].tools must name the tools'],
      [[{ users: ['ann'] }], 'AI_TOOL_RULES[0].tools is required'],
      [[{ tools: ['a'] }, { tools: ['a'], users: 'ann' }], 'AI_TOOL_RULES[1].users must be a list of names'],
      [[{ tools: ['a'], tags: ['x'] }], 'AI_TOOL_RULES[0].tags is unknown'],
    ] as const)
      expect(() => readToolRules(given), JSON.stringify(given))
        .to.throw(message)
        .with.property('path')
        .that.matches(/^AI_TOOL_RULES/);
  });
});
