import { expect } from 'chai';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../../imports/host/settings/vendors';

const faultOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('nothing was thrown');
};

describe('settings of budgets', () => {
  it('are absent without settings', () => {
    expect(settingsFromEnvironment({})).to.not.have.property('budgets');
    expect(settingsFromMeteor({ budgets: {} }, {})).to.not.have.property('budgets');
  });

  it('are read from the environment', () => {
    const env = {
      LLM_BUDGET_DAY_CALLS: '100',
      LLM_BUDGET_MONTH_TOKENS: '5e6',
      LLM_BUDGET_MONTH_MONEY: '2.50',
      LLM_BUDGET_DAY_MONEY: '',
    };
    expect(settingsFromEnvironment(env).budgets).to.deep.equal({
      day: { calls: 100 },
      month: { tokens: 5_000_000, money: 2.5 },
    });
  });

  it('are read from Meteor’s settings, which take precedence per window and can differ per user', () => {
    const budgets = { day: { calls: 5 }, users: { nightly: { month: { money: 20 } }, boss: {} } };
    expect(
      settingsFromMeteor({ budgets }, { LLM_BUDGET_DAY_TOKENS: '9', LLM_BUDGET_MONTH_CALLS: '7' }).budgets,
    ).to.deep.equal({ ...budgets, month: { calls: 7 } });
    expect(settingsFromMeteor({ LLM_BUDGET_DAY_CALLS: 3 }, {}).budgets).to.deep.equal({ day: { calls: 3 } });
  });

  const WRONG: readonly (readonly [title: string, read: () => unknown, message: string])[] = [
    [
      'no number',
      () => settingsFromEnvironment({ LLM_BUDGET_DAY_CALLS: 'many' }),
      'LLM_BUDGET_DAY_CALLS must be a number of at least 0, but is "many"',
    ],
    [
      'a negative number',
      () => settingsFromEnvironment({ LLM_BUDGET_DAY_CALLS: '-1' }),
      'must be a number of at least 0',
    ],
    ['a list', () => settingsFromMeteor({ budgets: [] }, {}), 'Meteor.settings.ai.budgets must be an object'],
    [
      'an unknown window',
      () => settingsFromMeteor({ budgets: { week: { calls: 1 } } }, {}),
      'budgets.week is unknown. Expected one of: day, month, users.',
    ],
    [
      'an unknown amount',
      () => settingsFromMeteor({ budgets: { day: { euros: 1 } } }, {}),
      'budgets.day.euros is unknown',
    ],
    [
      'a text',
      () => settingsFromMeteor({ budgets: { users: { ann: { day: { calls: '1' } } } } }, {}),
      'budgets.users.ann.day.calls must be an integer',
    ],
  ];
  for (const [title, read, message] of WRONG) {
    it(`reject ${title}`, () => {
      expect(faultOf(read)).to.contain(message);
    });
  }
});
