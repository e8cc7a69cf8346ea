/** What users do in all processes, in a document collection: one document per user, with the load of each process. */
import { LOAD_MINUTE_MS } from '../domain/UserLoad';
import type { UserAccount } from '../domain/UserLoad';
import type { AccountStore, StoredAccount } from '../domain/AccountStore';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import { replaceAccount } from './replaceAccount';

export const USER_LOADS = 'ai_user_loads';

export interface UserLoadDocument extends StoredDocument {
  readonly revision: number;
  /** JSON of the loads. */
  readonly processes: string;
  readonly expiresAt: Date;
}

/** Without a change for this long, nothing is held any more, and the minute is over. */
const EXPIRES_AFTER_MS = 3_600_000;

export class DocumentUserLoads implements AccountStore<UserAccount> {
  private readonly collection: DocumentCollection<UserLoadDocument>;

  constructor(collection: DocumentCollection<UserLoadDocument>) {
    this.collection = collection;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async find(id: string): Promise<StoredAccount<UserAccount> | undefined> {
    const document = await this.collection.findOne({ _id: userLoadId(id) });
    if (document === undefined) return undefined;
    const { revision, processes } = document;
    // `replace` wrote it.
    return { revision, account: { id, processes: JSON.parse(processes) as UserAccount['processes'] } };
  }

  replace({ id, processes }: UserAccount, revision: number): Promise<boolean> {
    const last = processes.reduce(
      (latest, { load, until }) => Math.max(latest, until, load.minute + LOAD_MINUTE_MS),
      0,
    );
    return replaceAccount(this.collection, userLoadId(id), revision, {
      processes: JSON.stringify(processes),
      expiresAt: new Date(last + EXPIRES_AFTER_MS),
    });
  }
}

/** User ids can be anything. */
export function userLoadId(userId: string): string {
  return `user/${encodeURIComponent(userId.toWellFormed())}`;
}
