/** Where rows of providers are kept that may change at any time, also by other processes. */
import type { ProviderSettings } from './LLMProviderFactory';

export interface ProviderSource {
  /** As they were read last. */
  known(): readonly ProviderSettings[];
  /** As it is now; undefined for one that is gone, or not to be used. */
  current(id: string): Promise<ProviderSettings | undefined>;
  refresh(): Promise<void>;
}
