/** The rates of API tokens in a document collection, one document per token. */
import type { RateAccount } from '../domain/RateAccount';
import type { AccountStore, StoredAccount } from '../domain/AccountStore';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import { replaceAccount } from './replaceAccount';

export const TOKEN_RATES = 'ai_token_rates';

export interface RateDocument extends StoredDocument {
  readonly revision: number;
  readonly minute: number;
  readonly requests: number;
  readonly tokens: number;
  /** JSON of the requests in progress. */
  readonly leases: string;
  readonly expiresAt: Date;
}

/** Without a change for this long, all leases have expired and the minute is over. */
const EXPIRES_AFTER_MS = 3_600_000;

export class DocumentRateStore implements AccountStore<RateAccount> {
  private readonly collection: DocumentCollection<RateDocument>;

  constructor(collection: DocumentCollection<RateDocument>) {
    this.collection = collection;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async find(id: string): Promise<StoredAccount<RateAccount> | undefined> {
    const document = await this.collection.findOne({ _id: id });
    if (document === undefined) return undefined;
    const { revision, minute, requests, tokens, leases } = document;
    // `replace` wrote it.
    return { revision, account: { id, minute, requests, tokens, leases: JSON.parse(leases) as RateAccount['leases'] } };
  }

  replace({ id, minute, requests, tokens, leases }: RateAccount, revision: number): Promise<boolean> {
    const last = leases.reduce((latest, { until }) => Math.max(latest, until), minute);
    return replaceAccount(this.collection, id, revision, {
      minute,
      requests,
      tokens,
      leases: JSON.stringify(leases),
      expiresAt: new Date(last + EXPIRES_AFTER_MS),
    });
  }
}
