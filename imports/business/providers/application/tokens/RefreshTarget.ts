/** A stored token and how to refresh it. */
import type { Provider } from '../../domain/entities/Provider';
import type { SecretContent } from '../../domain/entities/StoredCredential';
import type { TokenSet } from '../../domain/types/TokenSet';

export type TokenContent = Extract<SecretContent, { type: 'tokens' }>;

export interface RefreshTarget {
  readonly provider: Provider;
  readonly userId: string | null;
  /** Whether there is a way to new tokens. Without one, a token is used until it expires. */
  readonly canRefresh: (content: TokenContent) => boolean;
  /** Does everything that can be done before the refresh token is sent. */
  readonly prepare: () => Promise<void>;
  /** Requests new tokens. @param mayStillSend checked directly before the request is sent */
  readonly obtain: (content: TokenContent, mayStillSend: () => boolean) => Promise<TokenSet>;
  /** Revokes tokens that could not be stored. */
  readonly revoke: (content: TokenContent) => Promise<void>;
}

/** The fields that identify the target in log entries. */
export function targetFields({ provider, userId }: RefreshTarget): {
  readonly providerId: string;
  readonly userId: string | null;
} {
  return { providerId: provider._id, userId };
}
