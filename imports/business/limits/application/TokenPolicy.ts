/**
 * What the API tokens of model calls permit. Other processes notice a change, a revocation or a rotation within
 * `MAX_AGE_MS`.
 */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../ai/domain/util/growingCapacity';
import { isStoreOutage, LLMAuthError } from '../../ai/domain/errors/LLMErrors';
import type { ApiTokenReader } from '../../ai/domain/interfaces/ApiTokenReader';
import type { LimitedToken } from '../../ai/domain/types/ApiTokenLimits';

export interface TokenPolicyOptions {
  readonly tokens: ApiTokenReader;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: () => number;
}

interface CachedToken {
  readonly readAt: number;
  readonly token: Promise<LimitedToken | undefined>;
  /** Set once the token has been read. */
  known?: { readonly token: LimitedToken | undefined };
}

/** How long a process relies on a token that it has read. */
export const MAX_AGE_MS = 2_000;
const MAX_CACHED_TOKENS = 10_000;

export class TokenPolicy {
  private readonly tokens: ApiTokenReader;
  private readonly now: () => number;
  private readonly clock: () => number;
  private readonly cache = new LRUCache<string, CachedToken>(growingCapacity(MAX_CACHED_TOKENS));

  constructor({ tokens, now = Date.now, clock = () => performance.now() }: TokenPolicyOptions) {
    this.tokens = tokens;
    this.now = now;
    this.clock = clock;
  }

  /**
   * Answers at once if the token was read a moment ago.
   * @returns undefined for a token that is not stored, such as the one of the server's settings: it has no limits
   * @throws LLMAuthError for a token that was revoked or has expired, even if a run that it started continues
   * @throws whatever the store throws, since limits that can't be read can't be enforced. During an outage, those that
   *   were read before still apply
   */
  find(tokenId: string): LimitedToken | undefined | Promise<LimitedToken | undefined> {
    const cached = this.read(tokenId);
    return cached.known === undefined
      ? cached.token.then((token) => this.valid(token))
      : this.valid(cached.known.token);
  }

  private valid(token: LimitedToken | undefined): LimitedToken | undefined {
    if (token?.revokedAt !== undefined)
      throw new LLMAuthError(`The API token "${token.name}" was revoked. Use another one.`);
    if (token?.expiresAt !== undefined && token.expiresAt <= this.now())
      throw new LLMAuthError(
        `The API token "${token.name}" expired at ${new Date(token.expiresAt).toISOString()}. Use another one.`,
      );
    return token;
  }

  /** Reads the token again with the next call. */
  forget(tokenId: string): void {
    this.cache.delete(tokenId);
  }

  private read(tokenId: string): CachedToken {
    const cached = this.cache.get(tokenId);
    const now = this.clock();
    if (cached !== undefined && now - cached.readAt < MAX_AGE_MS) return cached;
    const token = this.tokens.find(tokenId).catch((error: unknown) => {
      // During an outage, authentication refuses stored tokens. What was read before serves other calls, such as runs'.
      if (isStoreOutage(error) && cached !== undefined) return cached.token;
      throw error;
    });
    const entry: CachedToken = { readAt: now, token };
    this.cache.set(tokenId, entry);
    token.then(
      (known) => (entry.known = { token: known }),
      () => {
        if (this.cache.get(tokenId) === entry) this.cache.delete(tokenId);
      },
    );
    return entry;
  }
}
