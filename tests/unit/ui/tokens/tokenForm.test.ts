import { expect } from 'chai';
import { changedFields, newFields, tokenTexts } from '../../../../imports/ui/tokens/tokenForm';

describe('the form of a token', () => {
  const TOKEN = {
    name: 'ci',
    team: 'red',
    tags: ['a', 'b'],
    models: ['openai/*'],
    tools: ['look_up', 'hosted:web_search'],
    budgets: { day: { calls: 5 } },
    rateLimits: { parallel: 2 },
  };

  it('changes nothing unless it is edited', () => {
    const texts = tokenTexts(TOKEN);
    expect(changedFields(texts, texts)).to.deep.equal({});
  });

  it('changes what was edited, and removes what was emptied', () => {
    const before = tokenTexts(TOKEN);
    const texts = {
      ...before,
      team: ' ',
      models: 'openai/*, claude-*,',
      budgets: { ...before.budgets, 'day.calls': '', 'month.money': '$20' },
      rates: { ...before.rates, parallel: 'many' },
    };
    expect(changedFields(texts, before)).to.deep.equal({
      team: null,
      models: ['openai/*', 'claude-*'],
      budgets: { day: {}, month: { money: 20 } },
      rateLimits: { parallel: 'many' },
    });
  });

  it('tells no tools from all of them', () => {
    for (const tools of [undefined, [], ['look_up']]) {
      const { tools: text } = tokenTexts(tools === undefined ? {} : { tools });
      expect(newFields({ ...tokenTexts(), tools: text }).tools).to.deep.equal(tools);
    }
    expect(changedFields({ ...tokenTexts(TOKEN), tools: '' }, tokenTexts(TOKEN))).to.deep.equal({ tools: null });
    expect(changedFields({ ...tokenTexts(TOKEN), tools: ' None ' }, tokenTexts(TOKEN))).to.deep.equal({ tools: [] });
  });

  it('leaves out what a new token has not', () => {
    expect(newFields({ ...tokenTexts(), name: 'ci' })).to.deep.equal({ name: 'ci' });
    expect(newFields(tokenTexts())).to.deep.equal({ name: '' });
    expect(newFields(tokenTexts(TOKEN))).to.deep.equal({ ...TOKEN, budgets: { day: { calls: 5 }, month: {} } });
  });
});
