/** Who gets an account in the Meteor host. */
import { expect } from 'chai';
import sinon from 'sinon';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { configureSignUp, createFirstUser, requirePasswords } from '../../../../imports/host/meteor/configureAccounts';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

const BOSS = { email: 'boss@example.com', password: 'a long password' };

describe('createFirstUser', () => {
  beforeEach(() => {
    resetMeteor();
    sinon.stub(console, 'log');
  });
  afterEach(() => sinon.restore());
  after(() => resetMeteor());
  const logged = (): readonly unknown[] => (console.log as sinon.SinonStub).args.flat();

  it('creates a user with a verified address, and logs the address and id but not the password', async () => {
    await createFirstUser(METEOR_PACKAGES, BOSS);
    const [user] = await Meteor.users.find({}).fetchAsync();
    expect(user?.emails).to.deep.equal([{ address: BOSS.email, verified: true }]);
    expect(logged()).to.have.length(1);
    expect(logged()[0]).to.contain(BOSS.email).and.contain(user?._id).and.not.contain(BOSS.password);
  });

  it('creates and logs nothing while there are users', async () => {
    await Meteor.users.insertAsync({ _id: 'ann', emails: [] });
    await createFirstUser(METEOR_PACKAGES, BOSS);
    expect((await Meteor.users.find({}).fetchAsync()).map(({ _id }) => _id)).to.deep.equal(['ann']);
    expect(logged()).to.deep.equal([]);
  });

  it('leaves the user to the process that was faster', async () => {
    sinon.stub(Accounts, 'createUserAsync').callsFake(async () => {
      await Meteor.users.insertAsync({ _id: 'elsewhere', emails: [{ address: BOSS.email, verified: true }] });
      throw new Meteor.Error(403, 'Email already exists.');
    });
    await createFirstUser(METEOR_PACKAGES, BOSS);
    expect(logged()).to.deep.equal([]);
  });

  it('throws what accounts-password throws if there is still no user', async () => {
    const refused = new Meteor.Error(403, 'The app refuses this user.');
    sinon.stub(Accounts, 'createUserAsync').rejects(refused);
    expect(await failure(createFirstUser(METEOR_PACKAGES, BOSS))).to.equal(refused);
  });

  it('needs accounts-password, and says how to add it', () => {
    requirePasswords(Accounts);
    sinon.stub(Accounts, 'createUserAsync').value(undefined);
    expect(() => requirePasswords(Accounts)).to.throw('meteor add accounts-password');
  });
});

describe('configureSignUp', () => {
  beforeEach(() => resetMeteor());
  afterEach(() => sinon.restore());
  after(() => resetMeteor());

  it('permits or forbids sign-up, also when Bolide starts again', () => {
    configureSignUp(Accounts, false);
    configureSignUp(Accounts, false);
    expect(Accounts._options.forbidClientAccountCreation).to.equal(true);
    resetMeteor();
    configureSignUp(Accounts, true);
    expect(Accounts._options.forbidClientAccountCreation).to.equal(false);
  });

  it('leaves what the app itself has decided, and warns if the settings differ', () => {
    const warn = sinon.stub(console, 'warn');
    for (const forbidClientAccountCreation of [true, false]) {
      resetMeteor();
      Accounts.config({ forbidClientAccountCreation });
      const config = sinon.spy(Accounts, 'config');
      configureSignUp(Accounts, !forbidClientAccountCreation);
      expect(warn.callCount).to.equal(0);
      configureSignUp(Accounts, forbidClientAccountCreation);
      expect(warn.callCount).to.equal(1);
      expect(warn.firstCall.args[0]).to.contain('forbidClientAccountCreation');
      expect(config.callCount).to.equal(0);
      expect(Accounts._options).to.deep.equal({ forbidClientAccountCreation });
      config.restore();
      warn.resetHistory();
    }
  });
});
