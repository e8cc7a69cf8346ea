/** Issues and verifies API tokens: shown once, stored as hashes, scoped and revocable. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { consoleLogger } from '../../business/ai/domain/consoleLogger';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { User } from '../../business/ai/domain/types/Actor';
import { SCOPES } from './ApiPrincipal';
import type { ApiPrincipal, Scope } from './ApiPrincipal';
import type { ApiTokenStore, StoredApiToken } from './ApiTokenStore';
import { presentedToken } from './presentedToken';

export interface ApiTokenRequest {
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

export interface ApiTokensOptions {
  readonly store: ApiTokenStore;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

/** A token without its hash. */
export type ListedApiToken = Omit<StoredApiToken, 'hash'>;

/** A busy token's last use is stored no more often. */
const LAST_USED_EVERY_MS = 60_000;
/** Makes leaked tokens recognizable. */
const PREFIX = 'bolide_';
/** Longer strings are rejected without hashing. */
const MAX_LENGTH = 512;

export class ApiTokens {
  private readonly store: ApiTokenStore;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly pendingWrites = new Set<Promise<void>>();

  constructor({ store, now = Date.now, logger = consoleLogger }: ApiTokensOptions) {
    this.store = store;
    this.now = now;
    this.logger = logger;
  }

  /**
   * Generates a token. The returned value is its only copy.
   * @throws LLMInvalidRequestError without a user or with an unknown scope
   */
  async issue(request: ApiTokenRequest): Promise<{ readonly token: string; readonly id: string }> {
    const token = PREFIX + randomBytes(32).toString('base64url');
    return { token, id: await this.adopt(token, request) };
  }

  /** Stores a token that an operator has chosen. @returns its id */
  async adopt(token: string, { userId, name, scopes, expiresAt }: ApiTokenRequest): Promise<string> {
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
    const stored = { _id: idOf(hash), hash: hash.toString('hex'), userId, name, scopes, createdAt: this.now() };
    await this.store.insert(expiresAt === undefined ? stored : { ...stored, expiresAt });
    return stored._id;
  }

  /** @returns the token's principal, or undefined for an unknown or expired token */
  async verify(token: string): Promise<ApiPrincipal | undefined> {
    if (token.length > MAX_LENGTH) return undefined;
    const hash = hashOf(token);
    const stored = await this.store.find(idOf(hash));
    if (stored === undefined || !isSame(stored, hash)) return undefined;
    if (stored.expiresAt !== undefined && stored.expiresAt <= this.now()) return undefined;
    this.noteUse(stored);
    const { _id: id, userId, scopes, name } = stored;
    return { userId, scopes, token: { id, name } };
  }

  /** Waits for pending writes. */
  async settled(): Promise<void> {
    await Promise.all(this.pendingWrites);
  }

  /** @returns whether the user had such a token */
  revoke(userId: string, id: string): Promise<boolean> {
    return this.store.remove(userId, id);
  }

  /** Revokes all tokens of a user. @returns how many there were */
  revokeAll(userId: string): Promise<number> {
    return this.store.removeOfUser(userId);
  }

  /** A user's tokens, without their hashes. */
  async list(userId: string): Promise<readonly ListedApiToken[]> {
    return (await this.store.ofUser(userId)).map(withoutHash);
  }

  /** Everyone's tokens without their hashes, newest first. */
  async listAll(limit: number): Promise<readonly ListedApiToken[]> {
    return (await this.store.all(limit)).map(withoutHash);
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

function withoutHash({ hash: _, ...listed }: StoredApiToken): ListedApiToken {
  return listed;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function idOf(hash: Buffer): string {
  return hash.toString('hex', 0, 8);
}

function isSame({ hash }: StoredApiToken, given: Buffer): boolean {
  const stored = Buffer.from(hash, 'hex');
  return stored.length === given.length && timingSafeEqual(stored, given);
}
