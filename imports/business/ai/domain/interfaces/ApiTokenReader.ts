/** Port to the stored API tokens, for checks of the model calls that they pay for. */
import type { LimitedToken } from '../types/ApiTokenLimits';

export interface ApiTokenReader {
  /** A revoked token is found for as long as runs that it started may continue. */
  find(tokenId: string): Promise<LimitedToken | undefined>;
}
