/** Who counts as removed, and who learns that a provider does not exist. */
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

  it('tells admins and the server’s own code that a provider does not exist, and others only that they may not', async () => {
    const isAdmin = (userId: string) => Promise.resolve({ userId, isAdmin: userId === 'root' });
    const policy = createAccessPolicy(providers, isAdmin);
    const reasonFor = async (userId: string, source: 'http' | 'job') => {
      const permission = await policy.decide({ userId, source }, { providerId: 'opneai', tools: [] });
      return permission.allowed ? undefined : permission.reason;
    };
    const missing = 'There is no provider "opneai". ai.providers.list lists them.';
    expect([await reasonFor('root', 'http'), await reasonFor('ann', 'job')]).to.deep.equal([missing, missing]);
    expect(await reasonFor('ann', 'http')).to.equal('You may not use the provider "opneai".');
  });
});
