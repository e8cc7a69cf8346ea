/** API tokens in a document collection, shared by all processes. */
import type { DocumentCollection, StoredDocument } from '../../business/ai/domain/interfaces/DocumentCollection';
import type { ApiTokenStore, StoredApiToken } from './ApiTokenStore';

export const API_TOKENS = 'ai_api_tokens';

type ApiTokenDocument = StoredDocument & StoredApiToken;

export class DocumentApiTokenStore implements ApiTokenStore {
  private readonly tokens: DocumentCollection<ApiTokenDocument>;

  constructor(tokens: DocumentCollection<ApiTokenDocument>) {
    this.tokens = tokens;
  }

  /** Creates the collection's indexes. Idempotent. */
  async ready(): Promise<void> {
    await Promise.all([this.tokens.ensureIndex({ userId: 1 }), this.tokens.ensureIndex({ createdAt: -1 })]);
  }

  insert(token: StoredApiToken): Promise<void> {
    return this.tokens.insert(token);
  }

  find(id: string): Promise<StoredApiToken | undefined> {
    return this.tokens.findOne({ _id: id });
  }

  ofUser(userId: string): Promise<readonly StoredApiToken[]> {
    return this.tokens.find({ userId }, { sort: { createdAt: 1 } });
  }

  all(limit: number): Promise<readonly StoredApiToken[]> {
    return this.tokens.find({}, { sort: { createdAt: -1 }, limit });
  }

  async setLastUsed(id: string, lastUsedAt: number): Promise<void> {
    await this.tokens.update({ _id: id }, { $set: { lastUsedAt } });
  }

  removeOfUser(userId: string): Promise<number> {
    return this.tokens.remove({ userId });
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.tokens.remove({ _id: id, userId })) === 1;
  }
}
