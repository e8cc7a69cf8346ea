import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { MeteorUsers } from '../../../../imports/host/meteor/MeteorUsers';
import type { FindRoles } from '../../../../imports/host/meteor/MeteorUsers';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

const registryOfPackages = globalThis as { Package?: Readonly<Record<string, object>> };

/** A roles package as far as it is used: it has no `this`-free functions, and knows users by id. */
function rolesPackage(rolesById: Readonly<Record<string, readonly string[]>>): object {
  return {
    Roles: {
      rolesById,
      async getRolesForUserAsync(userId: string, ...options: readonly unknown[]) {
        if (options.length > 0) throw new Error('Options select other than global roles.');
        return this.rolesById[userId] ?? [];
      },
    },
  };
}

describe('roles of MeteorUsers', () => {
  beforeEach(async () => {
    resetMeteor();
    await Meteor.users.insertAsync({ _id: 'ann', roles: ['of-document'] });
  });
  afterEach(() => {
    delete registryOfPackages.Package;
  });
  after(() => resetMeteor());

  const rolesOf = async (findRoles?: FindRoles): Promise<readonly string[] | undefined> =>
    (
      await new MeteorUsers({
        ...METEOR_PACKAGES,
        admins: [],
        ...(findRoles === undefined ? {} : { findRoles }),
      }).findUser('ann')
    )?.roles;

  it('come from the user document in an app without a roles package', async () => {
    expect(await rolesOf()).to.deep.equal(['of-document']);
    registryOfPackages.Package = { mongo: {} };
    expect(await rolesOf()).to.deep.equal(['of-document']);
  });

  for (const name of ['roles', 'alanning:roles']) {
    it(`come from the package ${name} if the app has it`, async () => {
      registryOfPackages.Package = { [name]: rolesPackage({ ann: ['of-package'], bob: ['other'] }) };
      expect(await rolesOf()).to.deep.equal(['of-package']);
    });
  }

  it('come from the given function rather than from the package', async () => {
    registryOfPackages.Package = { roles: rolesPackage({ ann: ['of-package'] }) };
    expect(await rolesOf((userId) => [`of-function-for-${userId}`])).to.deep.equal(['of-function-for-ann']);
    expect(await rolesOf(async () => ['later'])).to.deep.equal(['later']);
  });

  it('are none if they are not a list of names', async () => {
    await Meteor.users.updateAsync({ _id: 'ann' }, { $set: { roles: { group: ['admin'] } } });
    expect(await rolesOf()).to.deep.equal([]);
    expect(await rolesOf(() => 'admin' as never)).to.deep.equal([]);
  });

  it('are not looked up for unknown users', async () => {
    const users = new MeteorUsers({
      ...METEOR_PACKAGES,
      admins: [],
      findRoles: () => ['operator'],
      adminRoles: ['operator'],
    });
    expect(await users.findUser('mallory')).to.equal(undefined);
  });

  it('deny access if they cannot be looked up', async () => {
    const failed = new Error('The roles could not be read.');
    const users = new MeteorUsers({ ...METEOR_PACKAGES, admins: ['ann'], findRoles: () => Promise.reject(failed) });
    expect(await failure(users.findUser('ann'))).to.equal(failed);
  });

  it('make an admin of a user who has one of adminRoles, over DDP and HTTP', async () => {
    const hashedToken = Accounts._hashLoginToken('ann-token');
    await Meteor.users.updateAsync(
      { _id: 'ann' },
      { $set: { services: { resume: { loginTokens: [{ hashedToken, when: new Date() }] } } } },
    );
    const request = { headers: { authorization: 'Bearer ann-token' } } as never;
    for (const [adminRoles, isAdmin] of [
      [['operator'], true],
      [['editor'], false],
      [[], false],
    ] as const) {
      const users = new MeteorUsers({
        ...METEOR_PACKAGES,
        admins: [],
        adminRoles,
        findRoles: () => ['writer', 'operator'],
      });
      expect((await users.findUser('ann'))?.isAdmin, adminRoles.join()).to.equal(isAdmin);
      expect(await users.authenticate(request)).to.deep.equal({
        userId: 'ann',
        ...(isAdmin ? { scopes: ['admin'] } : {}),
      });
    }
  });
});
