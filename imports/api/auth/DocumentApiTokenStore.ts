/** API tokens in a document collection, shared by all processes. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { DocumentCollection, Selector, StoredDocument } from '../../database/DocumentCollection';
import { RepeatedReads } from '../../database/RepeatedReads';
import type { ApiTokenChange, ApiTokenStore, StoredApiToken } from './ApiTokenStore';

export const API_TOKENS = 'ai_api_tokens';

/** Revoked tokens are deleted at `purgeAt`. */
type ApiTokenDocument = StoredDocument & StoredApiToken & { readonly purgeAt?: Date };

/** Longer than any run lasts. */
const PURGE_AFTER_MS = 90 * 86_400_000;
const VALID: Selector = { revokedAt: { $exists: false } };

export class DocumentApiTokenStore implements ApiTokenStore {
  private readonly tokens: DocumentCollection<ApiTokenDocument>;
  private readonly byId: RepeatedReads<StoredApiToken | undefined>;
  private readonly byUser: RepeatedReads<readonly StoredApiToken[]>;

  constructor(tokens: DocumentCollection<ApiTokenDocument>) {
    this.tokens = tokens;
    this.byId = new RepeatedReads(tokens);
    this.byUser = new RepeatedReads(tokens);
  }

  /** Creates the collection's indexes. Idempotent. */
  async ready(): Promise<void> {
    await Promise.all([
      this.tokens.ensureIndex({ userId: 1 }),
      this.tokens.ensureIndex({ createdAt: -1 }),
      this.tokens.ensureIndex({ prefix: 1 }, { sparse: true }),
      this.tokens.ensureIndex({ 'previous.prefix': 1 }, { sparse: true }),
      this.tokens.ensureIndex({ purgeAt: 1 }, { expireAfterSeconds: 0 }),
    ]);
  }

  insert(token: StoredApiToken): Promise<void> {
    return this.tokens.insert(token);
  }

  /** Most requests are those of a few tokens, again and again. */
  find(id: string): Promise<StoredApiToken | undefined> {
    return this.byId.read(id, async () => toToken(await this.tokens.findOne({ _id: id })));
  }

  async findByPrefix(prefix: string): Promise<StoredApiToken | undefined> {
    return toToken(
      (await this.tokens.findOne({ prefix, ...VALID })) ??
        (await this.tokens.findOne({ 'previous.prefix': prefix, ...VALID })),
    );
  }

  ofUser(userId: string): Promise<readonly StoredApiToken[]> {
    return this.byUser.read(userId, () => this.tokens.find({ userId, ...VALID }, { sort: { createdAt: 1 } }));
  }

  all(limit: number): Promise<readonly StoredApiToken[]> {
    return this.tokens.find(VALID, { sort: { createdAt: -1 }, limit });
  }

  async setLastUsed(id: string, lastUsedAt: number): Promise<void> {
    await this.tokens.update({ _id: id }, { $set: { lastUsedAt } });
  }

  async change(id: string, userId: string | undefined, change: ApiTokenChange): Promise<StoredApiToken | undefined> {
    const fields = Object.entries(change);
    const $set = Object.fromEntries([
      ...fields.filter(([, value]) => value !== undefined),
      ...(change.revokedAt === undefined ? [] : [['purgeAt', new Date(change.revokedAt + PURGE_AFTER_MS)]]),
    ]) as Readonly<Record<string, unknown>>;
    const absent = fields.filter(([, value]) => value === undefined).map(([name]) => [name, true] as const);
    const owned = omitUndefined({ _id: id, userId, ...VALID });
    const modifier = { $set, ...(absent.length === 0 ? {} : { $unset: Object.fromEntries(absent) }) };
    return (await this.tokens.update(owned, modifier)) === 1 ? this.find(id) : undefined;
  }

  async removeOfUser(userId: string): Promise<number> {
    for (const author of ['createdBy', 'changedBy'])
      await this.tokens.update({ [author]: userId }, { $unset: { [author]: true } }, { multi: true });
    return this.tokens.remove({ userId });
  }
}

function toToken(document: ApiTokenDocument | undefined): StoredApiToken | undefined {
  if (document === undefined) return undefined;
  const { purgeAt: _, ...token } = document;
  return token;
}
