/** Issues, rotates and verifies API tokens: shown once, stored as hashes, scoped and revocable. */
import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { consoleLogger } from '../../log/consoleLogger';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { User } from '../../business/ai/domain/types/Actor';
import { SCOPES } from './ApiPrincipal';
import type { ApiPrincipal, Scope } from './ApiPrincipal';
import type { ApiTokenChange, ApiTokenFields, ApiTokenStore, StoredApiToken, TokenGrant } from './ApiTokenStore';
import { presentedToken } from './presentedToken';

export interface ApiTokenRequest extends ApiTokenFields {
  readonly userId: string;
  readonly scopes: readonly Scope[];
  /** Absent: the user. */
  readonly createdBy?: string;
  /** An admin has set its limits, so its owner cannot change them. */
  readonly isManaged?: true;
  /** What a user has granted to a client of `/mcp`. */
  readonly grant?: TokenGrant;
}

export interface ApiTokensOptions {
  readonly store: ApiTokenStore;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called after a token was changed, rotated or revoked. */
  readonly onChange?: (id: string) => void;
  /** Default: the console. */
  readonly logger?: Logger;
}

/** A token without its hashes. */
export interface ListedApiToken extends Omit<StoredApiToken, 'hash' | 'prefix' | 'previous'> {
  /** Until when the secret before the last rotation is valid. Absent: it no longer is. */
  readonly previousExpiresAt?: number;
}

/** A busy token's last use is stored no more often. */
const LAST_USED_EVERY_MS = 60_000;
/** Makes leaked tokens recognizable. */
const PREFIX = 'bolide_';
export const GRANT_PREFIX = 'mcp_';
/** Longer strings are rejected without hashing. */
const MAX_LENGTH = 512;

export class ApiTokens {
  private readonly store: ApiTokenStore;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly onChange: (id: string) => void;
  private readonly pendingWrites = new Set<Promise<void>>();

  constructor({ store, now = Date.now, onChange = () => undefined, logger = consoleLogger }: ApiTokensOptions) {
    this.store = store;
    this.now = now;
    this.onChange = onChange;
    this.logger = logger;
  }

  /**
   * Generates a token. The returned value is its only copy.
   * @throws LLMInvalidRequestError without a user or with an unknown scope
   */
  async issue(request: ApiTokenRequest): Promise<{ readonly token: string; readonly id: string }> {
    const token = generateSecret(request.grant);
    return { token, id: await this.adopt(token, request) };
  }

  /** Stores a token that an operator has chosen. @returns its id */
  async adopt(token: string, request: ApiTokenRequest): Promise<string> {
    const { userId, scopes } = request;
    if (userId === '') throw new LLMInvalidRequestError('An API token requires a user id.', { path: 'userId' });
    if (scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) {
      throw new LLMInvalidRequestError(`An API token requires scopes. Expected some of: ${SCOPES.join(', ')}.`, {
        path: 'scopes',
      });
    }
    // Spaces and commas can't be sent reliably in headers.
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(token) || token.length > MAX_LENGTH) {
      throw new LLMInvalidRequestError(
        `An API token must be 1 to ${MAX_LENGTH} printable ASCII characters without spaces and commas.`,
        { path: 'token' },
      );
    }
    const hash = hashOf(token);
    const _id = idOf(hash);
    await this.store.insert({ ...request, _id, hash: hash.toString('hex'), createdAt: this.now() });
    return _id;
  }

  /**
   * Replaces the secret. Everything else stays: the id, the limits and what was used.
   * @param userId the owner; undefined: anyone
   * @param graceMs for which the old secret remains valid
   * @returns the only copy of the new secret, or undefined if there is no such token
   */
  async rotate(
    id: string,
    userId: string | undefined,
    { graceMs, by }: { readonly graceMs: number; readonly by?: string },
  ): Promise<{ readonly token: string } | undefined> {
    const stored = await this.store.find(id);
    if (stored === undefined) return undefined;
    const token = generateSecret(stored.grant);
    const hash = hashOf(token);
    const now = this.now();
    const changed = await this.change(id, userId, {
      hash: hash.toString('hex'),
      prefix: idOf(hash),
      previous:
        graceMs > 0 ? { hash: stored.hash, prefix: stored.prefix ?? stored._id, expiresAt: now + graceMs } : undefined,
      rotatedAt: now,
      ...(by === undefined ? {} : { changedAt: now, changedBy: by }),
    });
    return changed === undefined ? undefined : { token };
  }

  /**
   * @param userId the owner; undefined: anyone
   * @returns undefined if there is no such token
   */
  async update(id: string, userId: string | undefined, change: ApiTokenChange): Promise<ListedApiToken | undefined> {
    const changed = await this.change(id, userId, change);
    return changed === undefined ? undefined : this.listed(changed);
  }

  /** Finds revoked tokens, too. */
  find(id: string): Promise<StoredApiToken | undefined> {
    return this.store.find(id);
  }

  /** @returns the token's principal, or undefined for an unknown or expired token, and for a grant */
  async verify(token: string): Promise<ApiPrincipal | undefined> {
    const stored = await this.storedAs(token);
    return stored === undefined || stored.grant !== undefined ? undefined : this.toPrincipal(stored);
  }

  /** @returns the principal of a grant, or undefined for any other token */
  async verifyGrant(token: string): Promise<ApiPrincipal | undefined> {
    const stored = await this.storedAs(token);
    return stored?.grant === undefined ? undefined : this.toPrincipal(stored);
  }

  private async storedAs(token: string): Promise<StoredApiToken | undefined> {
    if (token.length > MAX_LENGTH) return undefined;
    const hash = hashOf(token);
    const prefix = idOf(hash);
    const byId = await this.store.find(prefix);
    // After a rotation, the id is no longer the prefix of the secret.
    const stored = byId !== undefined && isSame(byId.hash, hash) ? byId : await this.store.findByPrefix(prefix);
    return stored !== undefined && this.accepts(stored, hash) ? stored : undefined;
  }

  /**
   * The principal of a token that was verified before, as long as that secret is valid.
   * @param secretId of the token, by `secretIdOf`
   */
  async verifySecretId(secretId: string): Promise<ApiPrincipal | undefined> {
    const byId = await this.store.find(secretId);
    const stored = byId?.hash.startsWith(secretId) === true ? byId : await this.store.findByPrefix(secretId);
    if (stored === undefined || stored.grant !== undefined) return undefined;
    const { hash, previous } = stored;
    const isPrevious = previous?.prefix === secretId && previous.expiresAt > this.now();
    return hash.startsWith(secretId) || isPrevious ? this.toPrincipal(stored) : undefined;
  }

  private toPrincipal(stored: StoredApiToken): ApiPrincipal | undefined {
    if (stored.expiresAt !== undefined && stored.expiresAt <= this.now()) return undefined;
    this.noteUse(stored);
    const { _id: id, userId, scopes, name, team, models } = stored;
    return {
      userId,
      scopes,
      token: omitUndefined({ id, name, team, models }),
    };
  }

  /** @returns undefined for a token that is not stored */
  async isValid(id: string): Promise<boolean | undefined> {
    const stored = await this.store.find(id);
    if (stored === undefined) return undefined;
    return stored.revokedAt === undefined && (stored.expiresAt ?? Infinity) > this.now();
  }

  /** A token without its hashes, also if it was revoked. */
  async describe(id: string): Promise<ListedApiToken | undefined> {
    const found = await this.store.find(id);
    return found === undefined ? undefined : this.listed(found);
  }

  /** Waits for pending writes. */
  async settled(): Promise<void> {
    await Promise.all(this.pendingWrites);
  }

  /** @returns whether the user had such a token */
  async revoke(userId: string, id: string): Promise<boolean> {
    const change = { hash: '', prefix: undefined, previous: undefined, revokedAt: this.now() };
    return (await this.change(id, userId, change)) !== undefined;
  }

  /** Revokes all tokens of a user. @returns how many there were */
  revokeAll(userId: string): Promise<number> {
    return this.store.removeOfUser(userId);
  }

  /** A user's tokens, without their hashes. */
  async list(userId: string): Promise<readonly ListedApiToken[]> {
    return (await this.store.ofUser(userId)).map((token) => this.listed(token));
  }

  /** Everyone's tokens without their hashes, newest first. */
  async listAll(limit: number): Promise<readonly ListedApiToken[]> {
    return (await this.store.all(limit)).map((token) => this.listed(token));
  }

  /** For hosts without accounts: a user is anyone with a valid token, an admin anyone with the scope `admin`. */
  readonly findUser = async (userId: string): Promise<User | undefined> => {
    const now = this.now();
    const valid = (await this.store.ofUser(userId)).filter(({ expiresAt = Infinity }) => expiresAt > now);
    return valid.length === 0 ? undefined : { userId, isAdmin: valid.some(({ scopes }) => scopes.includes('admin')) };
  };

  /** For `createHttpApi`. */
  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const token = presentedToken(request);
    return token === undefined ? undefined : this.verify(token);
  };

  private accepts({ hash, previous }: StoredApiToken, given: Buffer): boolean {
    if (isSame(hash, given)) return true;
    return previous !== undefined && previous.expiresAt > this.now() && isSame(previous.hash, given);
  }

  private async change(
    id: string,
    userId: string | undefined,
    change: ApiTokenChange,
  ): Promise<StoredApiToken | undefined> {
    const changed = await this.store.change(id, userId, change);
    this.onChange(id);
    return changed;
  }

  private listed({ hash: _, prefix: _prefix, previous, ...token }: StoredApiToken): ListedApiToken {
    const isValid = previous !== undefined && previous.expiresAt > this.now();
    return isValid ? { ...token, previousExpiresAt: previous.expiresAt } : token;
  }

  /** The request does not wait for the write, and does not fail with it. */
  private noteUse({ _id, lastUsedAt = 0 }: StoredApiToken): void {
    const now = this.now();
    if (now - lastUsedAt < LAST_USED_EVERY_MS) return;
    const write = this.store
      .setLastUsed(_id, now)

      .catch((error: unknown) => this.logger.warn(`Could not store that the API token "${_id}" was used.`, error))
      .finally(() => this.pendingWrites.delete(write));
    this.pendingWrites.add(write);
  }
}

/** Names a token's secret: enough to find the token, but useless for authentication. */
export function secretIdOf(token: string): string {
  return idOf(hashOf(token));
}

function generateSecret(grant: TokenGrant | undefined): string {
  return (grant === undefined ? PREFIX : GRANT_PREFIX) + randomBytes(32).toString('base64url');
}

function hashOf(token: string): Buffer {
  return digest('sha256', token, 'buffer');
}

function idOf(hash: Buffer): string {
  return hash.toString('hex', 0, 8);
}

function isSame(hash: string, given: Buffer): boolean {
  const stored = Buffer.from(hash, 'hex');
  return stored.length === given.length && timingSafeEqual(stored, given);
}
