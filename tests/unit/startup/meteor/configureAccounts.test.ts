/** Who gets an account in the Meteor host. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { readMeteorHostSettings } from '../../../../imports/startup/settings/meteor';
import { configureAccounts } from '../../../../imports/startup/meteor/configureAccounts';
import { settingsFromMeteor } from '../../../../imports/startup/settings/vendors';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';

const BOSS = { email: 'boss@example.com', password: 'a long password' };

describe('configureAccounts', () => {
  beforeEach(() => resetMeteor());
  after(() => resetMeteor());
  const emails = async (): Promise<unknown> => (await Meteor.users.find({}).fetchAsync()).map((user) => user.emails);

  it('creates the first user with a verified address, and no second one', async () => {
    await configureAccounts({ firstUser: BOSS });
    await configureAccounts({ firstUser: BOSS });
    expect(await emails()).to.deep.equal([[{ address: BOSS.email, verified: true }]]);
  });

  it('creates no user if there are users, or without the setting', async () => {
    await configureAccounts(undefined);
    expect(await emails()).to.deep.equal([]);
    await Meteor.users.insertAsync({ _id: 'ann', emails: [] });
    await configureAccounts({ firstUser: BOSS });
    expect(await emails()).to.deep.equal([[]]);
  });

  it('permits sign-up only if the operator allows it', async () => {
    await configureAccounts({});
    expect(Accounts._options.forbidClientAccountCreation).to.equal(true);
    await configureAccounts({ allowSignUp: true });
    expect(Accounts._options.forbidClientAccountCreation).to.equal(false);
  });

  it('accepts the example settings', async () => {
    const { ai } = JSON.parse(readFileSync('settings.example.json', 'utf8')) as {
      ai: { admins: string[]; firstUser: { email: string } };
    };
    await configureAccounts(ai);
    expect(await emails()).to.deep.equal([[{ address: ai.firstUser.email, verified: true }]]);
    expect(readMeteorHostSettings(ai, {})).to.deep.include({
      admins: [ai.firstUser.email],
      callLimits: { model: 300, command: 1200 },
    });
    expect(settingsFromMeteor(ai, {}).providers.map(({ id }) => id)).to.deep.equal(['openai']);
  });

  it('reports invalid settings without quoting the password', async () => {
    for (const wrong of [
      { allowSignUp: 'yes' },
      { firstUser: 'boss' },
      { firstUser: { ...BOSS, email: { $gt: '' } } },
      { firstUser: { ...BOSS, email: 'boss' } },
      { firstUser: { ...BOSS, password: 'short' } },
    ]) {
      expect(await failure(configureAccounts(wrong))).to.have.property('code', 'invalid-request');
    }
    expect(String(await failure(configureAccounts({ firstUser: { ...BOSS, password: 'hunter2' } })))).not.to.contain(
      'hunter2',
    );
    expect(await emails()).to.deep.equal([]);
  });
});
