import { expect } from 'chai';
import sinon from 'sinon';
import { AccountLedger } from '../../../../imports/business/limits/application/AccountLedger';
import type { AccountStore } from '../../../../imports/business/limits/domain/AccountStore';

interface Account {
  readonly userId: string;
  readonly sum: number;
}

class Accounts implements AccountStore<Account> {
  readonly written: number[] = [];
  reads = 0;
  fails = false;
  private stored: { readonly account: Account; readonly revision: number } | undefined;

  find(): Promise<{ readonly account: Account; readonly revision: number } | undefined> {
    this.reads += 1;
    return Promise.resolve(this.stored);
  }

  replace(account: Account, revision: number): Promise<boolean> {
    if (this.fails) return Promise.reject(new Error('no space left'));
    if ((this.stored?.revision ?? 0) !== revision) return Promise.resolve(false);
    this.stored = { account, revision: revision === 0 ? 700 : revision + 1 };
    this.written.push(account.sum);
    return Promise.resolve(true);
  }

  /** Changes the account as another process does. */
  set(sum: number): void {
    this.stored = { account: { userId: 'ann', sum }, revision: (this.stored?.revision ?? 0) + 1 };
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

  it('reads an account once, and again when another process has changed it', async () => {
    await addNow(1);
    // From this write on, the account's revision is known.
    await addNow(1);
    expect(store.reads).to.equal(2);
    await addNow(1);
    await addNow(1);
    expect(store.reads).to.equal(2);
    store.set(100);
    expect(await addNow(1)).to.equal(100);
    expect(store.reads).to.equal(3);
    expect(store.written).to.deep.equal([1, 2, 3, 4, 101]);
  });

  it('reads an account again before it refuses anything', async () => {
    const addBelow = (limit: number): Promise<boolean> =>
      ledger.change('ann', (account) =>
        account.sum < limit ? { account: add(1)(account), result: true } : { account, result: false },
      );
    await addNow(5);
    await addNow(5);
    expect(await addBelow(10)).to.equal(false);
    store.set(9);
    await addNow(0);
    store.set(3);
    expect(await addBelow(9)).to.equal(true);
    expect(store.written.at(-1)).to.equal(4);
  });

  it('reads an account again after a write that failed', async () => {
    await addNow(1);
    await addNow(1);
    store.fails = true;
    await addNow(1).catch(() => undefined);
    store.fails = false;
    const { reads } = store;
    expect(await addNow(1)).to.equal(2);
    expect(store.reads).to.equal(reads + 1);
  });
});
