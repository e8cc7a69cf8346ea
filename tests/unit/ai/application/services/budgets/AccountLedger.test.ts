import { expect } from 'chai';
import sinon from 'sinon';
import { AccountLedger } from '../../../../../../imports/business/ai/application/services/budgets/AccountLedger';
import type { AccountStore } from '../../../../../../imports/business/ai/domain/interfaces/AccountStore';

interface Account {
  readonly userId: string;
  readonly sum: number;
}

class Accounts implements AccountStore<Account> {
  readonly written: number[] = [];
  fails = false;
  private stored: { readonly account: Account; readonly revision: number } | undefined;

  find(): Promise<{ readonly account: Account; readonly revision: number } | undefined> {
    return Promise.resolve(this.stored);
  }

  replace(account: Account, revision: number): Promise<boolean> {
    if (this.fails) return Promise.reject(new Error('no space left'));
    this.stored = { account, revision: revision + 1 };
    this.written.push(account.sum);
    return Promise.resolve(true);
  }
}

describe('AccountLedger', () => {
  let clock: sinon.SinonFakeTimers;
  let store: Accounts;
  let ledger: AccountLedger<Account>;
  let failures: unknown[];

  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    store = new Accounts();
    failures = [];
    const open = (userId: string): Account => ({ userId, sum: 0 });
    ledger = new AccountLedger({ store, open, kind: 'the sum of', delayMs: 50 });
  });
  afterEach(() => clock.restore());

  const add =
    (n: number) =>
    (account: Account): Account => ({ ...account, sum: account.sum + n });
  const addSoon = (n: number): Promise<void> | undefined =>
    ledger.changeSoon('ann', add(n), (error) => failures.push(error));
  const addNow = (n: number): Promise<number> =>
    ledger.change('ann', (account) => ({ account: add(n)(account), result: account.sum }));

  it('stores an update of an account that was not written recently at once, and collects those that follow', async () => {
    await addSoon(1);
    expect(store.written).to.deep.equal([1]);
    expect([addSoon(1), addSoon(1), addSoon(1)]).to.deep.equal([undefined, undefined, undefined]);
    await clock.tickAsync(49);
    expect(store.written).to.deep.equal([1]);
    await clock.tickAsync(1);
    expect(store.written).to.deep.equal([1, 4]);
    await clock.tickAsync(50);
    await addSoon(1);
    expect(store.written).to.deep.equal([1, 4, 5]);
  });

  it('does not write again and again while updates that may wait arrive during writes', async () => {
    const first = addSoon(1);
    void addSoon(1);
    await first;
    void addSoon(1);
    await clock.tickAsync(49);
    expect(store.written).to.deep.equal([1]);
    await clock.tickAsync(1);
    expect(store.written).to.deep.equal([1, 3]);
  });

  it('lets no urgent update wait, and stores those before it with it', async () => {
    await addSoon(1);
    void addSoon(1);
    expect(await addNow(10)).to.equal(2);
    expect(store.written).to.deep.equal([1, 12]);
    await clock.tickAsync(100);
    expect(store.written).to.deep.equal([1, 12]);
  });

  it('lets no urgent update wait that arrives during a write', async () => {
    await Promise.all([addNow(1), addNow(1), Promise.resolve().then(() => addNow(1))]);
    expect(store.written.at(-1)).to.equal(3);
  });

  it('stores everything before it is settled', async () => {
    await addSoon(1);
    void addSoon(1);
    await ledger.settled();
    expect(store.written).to.deep.equal([1, 2]);
    void addNow(1);
    await ledger.settled();
    expect(store.written).to.deep.equal([1, 2, 3]);
    await ledger.settled();
    expect(store.written).to.have.length(3);
  });

  it('reports the failure of every update that was to be stored', async () => {
    store.fails = true;
    await addSoon(1);
    void addSoon(1);
    await ledger.settled();
    expect(failures).to.have.length(2);
    store.fails = false;
    await addNow(5);
    expect(store.written).to.deep.equal([5]);
  });
});
