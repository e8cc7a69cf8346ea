/** Counts the use of limited providers per user and window, for all processes together. */
import type { ProviderLimits } from '../entities/Provider';

export interface UsageStore {
  /** Counts one request. @returns 0, or if a limit is reached, the milliseconds until the next window */
  admit(providerId: string, userId: string, limits: ProviderLimits): Promise<number>;
  addTokens(providerId: string, userId: string, tokens: number, windowMs: number): Promise<void>;
  /** @returns how many of the user's windows there were */
  removeUser(userId: string): Promise<number>;
}
