/** Token counts by provider and user, as the manager reports them. */
import type { Usage } from './ResponsesAPITypes';

/** One call's tokens, reported as soon as they are counted. */
export interface UsedTokens {
  readonly providerId: string;
  readonly userId: string;
  readonly usage: Usage;
}

/** The sum of a user's calls to a provider since the manager was created. */
export interface UsageEntry {
  readonly providerId: string;
  /** Absent in the sum of the users that no longer have an entry of their own. */
  readonly userId?: string;
  /** Calls that were billed or may have been: responses, and failures that came with a token count. */
  readonly calls: number;
  readonly usage: Usage;
}
