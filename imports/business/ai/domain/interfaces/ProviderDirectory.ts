/** The providers that there are; they may come and go while the app runs. */
import type { ILLMProvider } from './ILLMProvider';

export interface ProviderDirectory {
  /** The same object as long as calls go to the same place. */
  get(id: string): ILLMProvider | undefined;
  has(id: string): boolean;
  /** Ids, the default one first. */
  keys(): Iterable<string>;
  /** Looks again where they are kept, for what another process changed. */
  refresh(): Promise<void>;
}
