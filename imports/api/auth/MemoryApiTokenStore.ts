/** API tokens in this process's memory, for the local token of a plain-Node host and for tests. */
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import type { ApiTokenChange, ApiTokenStore, StoredApiToken } from './ApiTokenStore';

export class MemoryApiTokenStore implements ApiTokenStore {
  private readonly tokens = new Map<string, StoredApiToken>();

  insert(token: StoredApiToken): Promise<void> {
    if (this.tokens.has(token._id)) return Promise.reject(new ConflictError('The API token already exists.'));
    this.tokens.set(token._id, token);
    return Promise.resolve();
  }

  find(id: string): Promise<StoredApiToken | undefined> {
    return Promise.resolve(this.tokens.get(id));
  }

  findByPrefix(prefix: string): Promise<StoredApiToken | undefined> {
    const valid = this.valid();
    return Promise.resolve(
      valid.find((token) => token.prefix === prefix) ?? valid.find(({ previous }) => previous?.prefix === prefix),
    );
  }

  ofUser(userId: string): Promise<readonly StoredApiToken[]> {
    return Promise.resolve(this.valid().filter((token) => token.userId === userId));
  }

  all(limit: number): Promise<readonly StoredApiToken[]> {
    const newest = this.valid().sort((left, right) => right.createdAt - left.createdAt);
    return Promise.resolve(newest.slice(0, limit));
  }

  setLastUsed(id: string, lastUsedAt: number): Promise<void> {
    const token = this.tokens.get(id);
    if (token !== undefined) this.tokens.set(id, { ...token, lastUsedAt });
    return Promise.resolve();
  }

  change(id: string, userId: string | undefined, change: ApiTokenChange): Promise<StoredApiToken | undefined> {
    const token = this.valid().find((each) => each._id === id && (userId === undefined || each.userId === userId));
    if (token === undefined) return Promise.resolve(undefined);
    const fields = Object.entries({ ...token, ...change }).filter(([, value]) => value !== undefined);
    const changed = Object.fromEntries(fields) as unknown as StoredApiToken;
    this.tokens.set(id, changed);
    return Promise.resolve(changed);
  }

  removeOfUser(userId: string): Promise<number> {
    const theirs = [...this.tokens.values()].filter((token) => token.userId === userId);
    for (const { _id } of theirs) this.tokens.delete(_id);
    return Promise.resolve(theirs.length);
  }

  private valid(): StoredApiToken[] {
    return [...this.tokens.values()].filter(({ revokedAt }) => revokedAt === undefined);
  }
}
