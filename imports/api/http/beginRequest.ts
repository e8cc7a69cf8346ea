/** What every way in asks for before it handles a request: the limits of the caller's API token, then of the user. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { UserLimiter } from '../../business/limits/application/UserLimiter';
import type { RateLimitState } from '../../business/ai/domain/types/ApiTokenLimits';
import type { AIModule } from '../../business/ai/infrastructure/factories/createAIModule';
import type { ApiPrincipal } from '../auth/ApiPrincipal';

export interface RequestLimiters {
  /** Absent: API tokens have no rates. */
  readonly tokenRates?: Pick<NonNullable<AIModule['apiTokens']>['rates'], 'begin'>;
  /** Absent: users have no limits. */
  readonly userLimiter?: Pick<UserLimiter, 'begin'>;
}

export interface BegunRequest {
  /** What it holds until it is released. */
  readonly holds: 'calls' | 'connections' | 'nothing';
  /** The size of the request's body. */
  readonly bytes?: number;
  /** Ends its wait for its turn. */
  readonly signal?: AbortSignal;
  /** Learns what is left of the token's rates, also when the request is refused. */
  readonly onRateLimits?: (state: RateLimitState) => void;
}

/**
 * Ends what a request holds.
 * @param continues resolves when what the request has started has ended: until then, it counts as in progress for the
 *   token. What a user has started has limits of its own.
 */
export type EndRequest = (continues?: Promise<void>) => void;

/**
 * A request that the token may not make does not count for the user, whose other tokens are unaffected.
 * @throws LLMRateLimitError with `retryAfterMs`; what the stores of the limits throw
 */
export async function beginRequest(
  { tokenRates, userLimiter }: RequestLimiters,
  { userId, token }: ApiPrincipal,
  { holds, bytes = 0, signal, onRateLimits = () => undefined }: BegunRequest,
): Promise<EndRequest> {
  const begun = token === undefined ? undefined : tokenRates?.begin(token.id, holds, onRateLimits);
  const endOfToken = begun instanceof Promise ? await begun : begun;
  try {
    const turn = omitUndefined({ bytes, signal });
    const entered = userLimiter?.begin(userId, holds, turn);
    const endOfUser = entered instanceof Promise ? await entered : entered;
    return (continues) => {
      endOfUser?.();
      if (continues === undefined) endOfToken?.();
      else void continues.then(endOfToken);
    };
  } catch (error) {
    endOfToken?.();
    throw error;
  }
}
