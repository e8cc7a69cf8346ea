/** Who counts as removed: only where users have accounts does an unknown user not exist. */
import { expect } from 'chai';
import { createAccessPolicy } from '../../../imports/host/accessPolicy';

describe('the access policy', () => {
  const providers = {
    find: () => Promise.resolve(undefined),
    lastRead: () => undefined,
    isEmpty: () => Promise.resolve(false),
  };
  const findUser = (userId: string) => Promise.resolve(userId === 'ann' ? { userId } : undefined);

  it('tells removed users where users have accounts', async () => {
    const policy = createAccessPolicy(providers, findUser, { hasAccounts: true });
    expect([await policy.isRemoved?.('ann'), await policy.isRemoved?.('bob')]).to.deep.equal([false, true]);
  });

  it('takes no user for removed where they are known by their tokens only', async () => {
    const policy = createAccessPolicy(providers, findUser);
    expect([await policy.isRemoved?.('ann'), await policy.isRemoved?.('bob')]).to.deep.equal([false, false]);
  });
});
