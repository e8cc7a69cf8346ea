/** Where the use of limited providers is counted, for all processes together. */
import type { ProviderLimits } from '../entities/Provider';

export interface UsageWindow {
  readonly providerId: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

export interface UsageStore {
  /** Counts one request. @returns false, and counts nothing, when a limit is reached */
  admit(window: UsageWindow, limits: ProviderLimits): Promise<boolean>;
  addTokens(window: UsageWindow, tokens: number): Promise<void>;
}
