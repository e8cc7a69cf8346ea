/** API tokens in this process's memory, for the local token of a plain-Node host and for tests. */
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import type { ApiTokenStore, StoredApiToken } from './ApiTokenStore';

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

  ofUser(userId: string): Promise<readonly StoredApiToken[]> {
    return Promise.resolve([...this.tokens.values()].filter((token) => token.userId === userId));
  }

  all(limit: number): Promise<readonly StoredApiToken[]> {
    const newest = [...this.tokens.values()].sort((left, right) => right.createdAt - left.createdAt);
    return Promise.resolve(newest.slice(0, limit));
  }

  setLastUsed(id: string, lastUsedAt: number): Promise<void> {
    const token = this.tokens.get(id);
    if (token !== undefined) this.tokens.set(id, { ...token, lastUsedAt });
    return Promise.resolve();
  }

  removeOfUser(userId: string): Promise<number> {
    const theirs = [...this.tokens.values()].filter((token) => token.userId === userId);
    for (const { _id } of theirs) this.tokens.delete(_id);
    return Promise.resolve(theirs.length);
  }

  remove(userId: string, id: string): Promise<boolean> {
    const isTheirs = this.tokens.get(id)?.userId === userId;
    if (isTheirs) this.tokens.delete(id);
    return Promise.resolve(isTheirs);
  }
}
