import { expect } from 'chai';
import { StorageAccounts } from '../../../../imports/database/bounds/StorageAccounts';
import { ownedBy } from '../../../../imports/database/StoredCollection';
import type { StoredCollection } from '../../../../imports/database/StoredCollection';
import { StorageFullError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { failure } from '../../../support/failure';
import { VirtualTime } from '../../../support/VirtualTime';

const LIMIT = 1_000_000;
const NOTES: StoredCollection = {
  name: 'notes',
  bound: 'account',
  content: { content: ['text'], owner: { field: 'userId' } },
  ofUsers: [{ kind: 'notes', owner: ownedBy('userId') }],
};

/** Accounts over a database in which Ann has so many bytes, and that says how often it was asked. */
function accountsOver(sealsContent = false) {
  const stored = { bytes: 0, counts: 0 };
  const bytes = (): Promise<number> => {
    stored.counts += 1;
    return Promise.resolve(stored.bytes);
  };
  const database = { collection: () => ({ bytes }), sealsContent } as never;
  return { stored, accounts: new StorageAccounts(database, [NOTES], LIMIT) };
}

describe('StorageAccounts', () => {
  let time: VirtualTime;
  beforeEach(() => (time = VirtualTime.start()));
  afterEach(() => time.stop());

  it('refuse a hundred requests at the bound by two counts, and count again after some seconds', async () => {
    const { stored, accounts } = accountsOver();
    stored.bytes = LIMIT;
    for (let request = 0; request < 100; request += 1)
      expect(await failure(accounts.admit('ann', 10))).to.be.instanceOf(StorageFullError);
    // The first finds how much there is, and the second makes sure.
    expect(stored.counts).to.equal(2);
    stored.bytes = 0;
    await time.pass(10_000);
    await accounts.admit('ann', 10);
    expect(stored.counts).to.equal(3);
  });

  it('count again at once when something was removed', async () => {
    const { stored, accounts } = accountsOver();
    stored.bytes = LIMIT;
    expect(await failure(accounts.admit('ann', 10))).to.be.instanceOf(StorageFullError);
    stored.bytes = 0;
    accounts.released('ann');
    await accounts.admit('ann', 10);
    expect(stored.counts).to.equal(3);
  });

  it('add what is admitted as often as it is stored, which is once', async () => {
    const { accounts } = accountsOver();
    const admitted = async (): Promise<number> => {
      for (let requests = 0; ; requests += 1)
        if (
          await accounts.admit('ann', LIMIT / 10).then(
            () => false,
            () => true,
          )
        )
          return requests;
    };
    expect(await admitted()).to.equal(9);
  });

  it('add a third to what is sealed', async () => {
    const { accounts } = accountsOver(true);
    await accounts.admit('ann', LIMIT / 2);
    expect(await failure(accounts.admit('ann', LIMIT / 2))).to.be.instanceOf(StorageFullError);
  });
});
