/** Which writes are noticed by listeners here, and announced to other processes. */
import { expect } from 'chai';
import { ChangeSignal } from '../../../../../imports/business/providers/application/operations/ChangeSignal';
import type { CredentialStore } from '../../../../../imports/business/providers/domain/interfaces/CredentialStore';
import type {
  SealedBox,
  StoredCredential,
} from '../../../../../imports/business/providers/domain/entities/StoredCredential';

describe('ChangeSignal', () => {
  /** The store is not reached: only the calls count. */
  const store: CredentialStore = {
    find: () => Promise.resolve(undefined),
    put: () => Promise.resolve(),
    add: () => Promise.resolve(),
    change: () => Promise.resolve(2),
    reseal: () => Promise.resolve(true),
    take: () => Promise.resolve(undefined),
    ofProvider: () => Promise.resolve([]),
    ofUser: () => Promise.resolve([]),
    notSealedWith: () => Promise.resolve([]),
  };
  const credential = { _id: 'p/u', grantId: 'g', version: 1 } as unknown as StoredCredential;
  const write = {
    put: (to: CredentialStore) => to.put(credential),
    add: (to: CredentialStore) => to.add(credential),
    'change of state': (to: CredentialStore) => to.change(credential, { state: 'reconnect_required' }),
    take: (to: CredentialStore) => to.take({ providerId: 'p', userId: 'u', kind: 'oauth' }),
    'refreshed token': (to: CredentialStore) => to.change(credential, { generation: 2, lease: null }),
    reseal: (to: CredentialStore) => to.reseal(credential, { keyId: 'k' } as unknown as SealedBox),
  };
  const VISIBLE = ['put', 'add', 'change of state', 'take'];

  for (const [name, run] of Object.entries(write)) {
    const isVisible = VISIBLE.includes(name);
    it(`${isVisible ? 'notifies of, and announces,' : 'ignores'} a credential's ${name}`, async () => {
      const seen: string[] = [];
      const signal = new ChangeSignal({
        announce: () => Promise.resolve(void seen.push('announced')),
        log: { info: () => undefined, warn: () => undefined },
      });
      signal.subscribe(() => seen.push('notified'));
      await run(signal.watchCredentials(store));
      expect(seen).to.deep.equal(isVisible ? ['notified', 'announced'] : []);
    });
  }

  it('does not fail a change that is stored but cannot be announced', async () => {
    const warnings: unknown[] = [];
    const signal = new ChangeSignal({
      announce: () => Promise.reject(new Error('The database is down.')),
      log: { info: () => undefined, warn: (event, fields) => warnings.push([event, fields]) },
    });
    await signal.watchCredentials(store).put(credential);
    expect(warnings).to.deep.equal([['change:not-announced', { reason: 'The database is down.' }]]);
  });
});
