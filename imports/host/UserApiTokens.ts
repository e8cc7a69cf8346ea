/** API tokens created by users. A token grants no more than its owner may do at the time of the request. */
import type { IncomingMessage } from 'node:http';
import type { ApiPrincipal } from '../api/auth/ApiPrincipal';
import { ApiTokens } from '../api/auth/ApiTokens';
import { API_TOKENS, DocumentApiTokenStore } from '../api/auth/DocumentApiTokenStore';
import { presentedToken } from '../api/auth/presentedToken';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import type { UserLookup } from '../business/ai/domain/types/Actor';

export class UserApiTokens {
  readonly tokens: ApiTokens;
  private readonly store: DocumentApiTokenStore;
  private readonly users: UserLookup | undefined;

  /**
   * @param onChange called after a token was changed, rotated or revoked
   * @param users the app's accounts; without them, every owner of a token counts as a user
   */
  constructor(database: DocumentDatabase, onChange: (id: string) => void, users?: UserLookup) {
    this.store = new DocumentApiTokenStore(database.collection(API_TOKENS));
    this.tokens = new ApiTokens({ store: this.store, onChange });
    this.users = users;
  }

  /** Creates the store's indexes. Idempotent. */
  ready(): Promise<void> {
    return this.store.ready();
  }

  /** @returns undefined for an unknown or expired token, and for one whose owner no longer exists */
  readonly verify = async (token: string): Promise<ApiPrincipal | undefined> =>
    this.ofOwner(await this.tokens.verify(token));

  /** Verifies a token again by the id of its secret, as `verify` does. */
  readonly verifySecretId = async (secretId: string): Promise<ApiPrincipal | undefined> =>
    this.ofOwner(await this.tokens.verifySecretId(secretId));

  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const token = presentedToken(request);
    return token === undefined ? undefined : this.verify(token);
  };

  private async ofOwner(actor: ApiPrincipal | undefined): Promise<ApiPrincipal | undefined> {
    if (actor === undefined || this.users === undefined) return actor;
    const user = await this.users(actor.userId);
    if (user === undefined) return undefined;
    return user.isAdmin === true
      ? actor
      : { ...actor, scopes: actor.scopes?.filter((scope) => scope !== 'admin') ?? [] };
  }
}
