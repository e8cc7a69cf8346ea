import { expect } from 'chai';
import { changedFields, newFields, tokenTexts } from '../../../../imports/ui/tokens/tokenForm';

describe('the form of a token', () => {
  const TOKEN = {
    name: 'ci',
    team: 'red',
    tags: ['a', 'b'],
    models: ['openai/*'],
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

  it('leaves out what a new token has not', () => {
    expect(newFields({ ...tokenTexts(), name: 'ci' })).to.deep.equal({ name: 'ci' });
    expect(newFields(tokenTexts())).to.deep.equal({ name: '' });
    expect(newFields(tokenTexts(TOKEN))).to.deep.equal({ ...TOKEN, budgets: { day: { calls: 5 }, month: {} } });
  });
});
