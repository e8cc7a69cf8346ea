/** Who gets an account in the Meteor host. */
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { openAccounts } from '../../../imports/startup/meteor/openAccounts';
import { resetMeteor } from '../../stubs/server/registry';
import { failure } from '../../support/failure';

const BOSS = { email: 'boss@example.com', password: 'a long password' };

describe('openAccounts', () => {
  beforeEach(() => resetMeteor());
  after(() => resetMeteor());
  const emails = async (): Promise<unknown> => (await Meteor.users.find({}).fetchAsync()).map((user) => user.emails);

  it('makes the first user, whose address the operator vouches for, and no second one', async () => {
    await openAccounts({ firstUser: BOSS });
    await openAccounts({ firstUser: BOSS });
    expect(await emails()).to.deep.equal([[{ address: BOSS.email, verified: true }]]);
  });

  it('makes nobody where there is somebody, or nothing is said', async () => {
    await openAccounts(undefined);
    expect(await emails()).to.deep.equal([]);
    await Meteor.users.insertAsync({ _id: 'ann', emails: [] });
    await openAccounts({ firstUser: BOSS });
    expect(await emails()).to.deep.equal([[]]);
  });

  it('lets people sign up only where the operator says so', async () => {
    await openAccounts({});
    expect(Accounts._options.forbidClientAccountCreation).to.equal(true);
    await openAccounts({ allowSignUp: true });
    expect(Accounts._options.forbidClientAccountCreation).to.equal(false);
  });

  it('says what is wrong with the settings, without the password', async () => {
    for (const wrong of [{ allowSignUp: 'yes' }, { firstUser: 'boss' }, { firstUser: { ...BOSS, email: { $gt: '' } } }, { firstUser: { ...BOSS, email: 'boss' } }, { firstUser: { ...BOSS, password: 'short' } }]) {
      expect(await failure(openAccounts(wrong))).to.have.property('code', 'invalid-request');
    }
    expect(String(await failure(openAccounts({ firstUser: { ...BOSS, password: 'hunter2' } })))).not.to.contain('hunter2');
    expect(await emails()).to.deep.equal([]);
  });
});
