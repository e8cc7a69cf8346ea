/** Sessions of the dashboard in a document collection, shared by all processes. */
import type { DocumentCollection, StoredDocument } from '../../database/DocumentCollection';

export const SESSIONS = 'ai_sessions';

export interface StoredSession extends StoredDocument {
  /** SHA-256 of the cookie's value, in hexadecimal. */
  readonly _id: string;
  readonly userId: string;
  /**
   * The API token that opened it. Its rights are those of the token, as long as that is valid. Absent: the user
   * signed in at the OpenID provider.
   */
  readonly token?: { readonly id: string; readonly secretId: string };
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Accurate to a minute. */
  readonly usedAt: number;
  /** When it ends, however much it is used. */
  readonly endsAt: number;
  /** When it ends without further use. A date, as expiring indexes require. */
  readonly expiresAt: Date;
}

export class SessionStore {
  private readonly sessions: DocumentCollection<StoredSession>;

  constructor(sessions: DocumentCollection<StoredSession>) {
    this.sessions = sessions;
  }

  /** Creates the collection's indexes. Idempotent. */
  async ready(): Promise<void> {
    await Promise.all([
      this.sessions.ensureIndex({ userId: 1, createdAt: 1 }),
      this.sessions.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
    ]);
  }

  insert(session: StoredSession): Promise<void> {
    return this.sessions.insert(session);
  }

  /** The database deletes expired sessions some time later. */
  find(id: string, now: number): Promise<StoredSession | undefined> {
    return this.sessions.findOne({ _id: id, expiresAt: { $gt: new Date(now) } });
  }

  /** A session that has ended stays ended. */
  async setUsed(id: string, usedAt: number, expiresAt: number): Promise<void> {
    await this.sessions.update({ _id: id }, { $set: { usedAt, expiresAt: new Date(expiresAt) } });
  }

  /** Returns the given sessions that have not ended. */
  async remaining(ids: readonly string[], now: number): Promise<readonly string[]> {
    const selector = { _id: { $in: ids }, expiresAt: { $gt: new Date(now) } };
    return (await this.sessions.find(selector, { fields: { _id: 1 } })).map(({ _id }) => _id);
  }

  /** @returns whether there was such a session */
  async remove(id: string): Promise<boolean> {
    return (await this.sessions.remove({ _id: id })) === 1;
  }

  /** Ends the user's oldest sessions. @returns their ids */
  async removeOldest(userId: string, kept: number): Promise<readonly string[]> {
    const newest = await this.sessions.find({ userId }, { sort: { createdAt: -1, _id: -1 }, fields: { _id: 1 } });
    const surplus = newest.slice(kept).map(({ _id }) => _id);
    if (surplus.length > 0) await this.sessions.remove({ _id: { $in: surplus } });
    return surplus;
  }

  /** @returns how many there were */
  removeOfUser(userId: string): Promise<number> {
    return this.sessions.remove({ userId });
  }
}
