/** Port to stored provider settings, which may change at any time, also through other processes. */
import type { ProviderSettings } from './LLMProviderFactory';

export interface ProviderSource {
  /** The settings as last read: another list after a change. */
  cached(): readonly ProviderSettings[];
  /** The current settings; undefined for a provider that was removed or disabled. */
  current(id: string): Promise<ProviderSettings | undefined>;
  refresh(): Promise<void>;
}
