/**
 * What the API tokens of model calls permit. Other processes notice a change, a revocation or a rotation within
 * `MAX_AGE_MS`.
 */
import { LLMAuthError } from '../../ai/domain/errors/LLMErrors';
import type { ApiTokenReader } from '../../ai/domain/interfaces/ApiTokenReader';
import type { LimitedToken } from '../../ai/domain/types/ApiTokenLimits';
import { FreshReads } from './FreshReads';

export interface TokenPolicyOptions {
  readonly tokens: ApiTokenReader;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: () => number;
}

export class TokenPolicy {
  private readonly now: () => number;
  /** During an outage, authentication refuses stored tokens. What was read before serves other calls, such as runs'. */
  private readonly tokens: FreshReads<string, LimitedToken | undefined>;

  constructor({ tokens, now = Date.now, clock = () => performance.now() }: TokenPolicyOptions) {
    this.now = now;
    this.tokens = new FreshReads((tokenId) => tokens.find(tokenId), clock);
  }

  /**
   * Answers at once if the token was read a moment ago.
   * @returns undefined for a token that is not stored, such as the one of the server's settings: it has no limits
   * @throws LLMAuthError for a token that was revoked or has expired, even if a run that it started continues
   * @throws whatever the store throws, since limits that can't be read can't be enforced. During an outage, those that
   *   were read before still apply
   */
  find(tokenId: string): LimitedToken | undefined | Promise<LimitedToken | undefined> {
    const { known, value } = this.tokens.read(tokenId);
    return known === undefined ? value.then((token) => this.valid(token)) : this.valid(known.value);
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
    this.tokens.forget(tokenId);
  }
}
