/** One row with tokens, and how to get new ones for it. */
import type { Provider } from '../../domain/entities/Provider';
import type { SecretContent } from '../../domain/entities/StoredCredential';
import type { TokenSet } from '../../domain/types/TokenSet';

export type TokenContent = Extract<SecretContent, { type: 'tokens' }>;

/** A row with tokens, and how to get new ones. */
export interface RefreshTarget {
  readonly provider: Provider;
  readonly userId: string | null;
  /** Everything that can be done before the old token is shown. */
  readonly prepare: () => Promise<void>;
  /** @param mayStillSend asked directly before the request leaves */
  readonly obtain: (content: TokenContent, mayStillSend: () => boolean) => Promise<TokenSet>;
  /** Withdraws tokens that nobody can use any more. */
  readonly revoke: (content: TokenContent) => Promise<void>;
}

/** What the log says it is about. */
export function targetFields({ provider, userId }: RefreshTarget): {
  readonly providerId: string;
  readonly userId: string | null;
} {
  return { providerId: provider._id, userId };
}
