/** API tokens of one process, for hosts without a database and for tests. */
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import type { ApiTokenStore, StoredApiToken } from './ApiTokenStore';

export class MemoryApiTokenStore implements ApiTokenStore {
  private readonly tokens = new Map<string, StoredApiToken>();

  insert(token: StoredApiToken): Promise<void> {
    if (this.tokens.has(token._id)) return Promise.reject(new ConflictError('this token exists already'));
    this.tokens.set(token._id, token);
    return Promise.resolve();
  }

  find(id: string): Promise<StoredApiToken | undefined> {
    return Promise.resolve(this.tokens.get(id));
  }

  ofUser(userId: string): Promise<readonly StoredApiToken[]> {
    return Promise.resolve([...this.tokens.values()].filter((token) => token.userId === userId));
  }

  remove(userId: string, id: string): Promise<boolean> {
    const isTheirs = this.tokens.get(id)?.userId === userId;
    if (isTheirs) this.tokens.delete(id);
    return Promise.resolve(isTheirs);
  }
}
