/** The available providers. They may be added and removed at run time. */
import type { ILLMProvider } from './ILLMProvider';

export interface ProviderDirectory {
  /** Returns the same object as long as the provider's endpoint is the same. */
  get(id: string): ILLMProvider | undefined;
  has(id: string): boolean;
  /** Ids, the default provider first. */
  keys(): Iterable<string>;
  /** Reloads the providers, which another process may have changed. */
  refresh(): Promise<void>;
}
