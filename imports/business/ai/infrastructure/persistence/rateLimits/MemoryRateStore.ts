/** The rates of API tokens in memory, for this process alone. */
import type { RateAccount } from '../../../domain/entities/RateAccount';
import type { AccountStore, StoredAccount } from '../../../domain/interfaces/AccountStore';

export class MemoryRateStore implements AccountStore<RateAccount> {
  private readonly accounts = new Map<string, StoredAccount<RateAccount>>();

  find(id: string): Promise<StoredAccount<RateAccount> | undefined> {
    return Promise.resolve(this.accounts.get(id));
  }

  replace(account: RateAccount, revision: number): Promise<boolean> {
    const isExpected = (this.accounts.get(account.id)?.revision ?? 0) === revision;
    if (isExpected) this.accounts.set(account.id, { account, revision: revision + 1 });
    return Promise.resolve(isExpected);
  }
}
