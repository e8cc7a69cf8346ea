/**
 * Providers from rows that may change while the app runs: one object per row, made anew when the row says something
 * else.
 */
import { TextToolProvider } from '../../application/services/routing/TextToolProvider';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { createProvider } from './createProvider';
import type { CreateProviderOptions } from './createProvider';

export interface ProviderSettings extends CreateProviderOptions {
  readonly id: string;
  /** The only models that may be asked of it. Absent: any. */
  readonly allowedModels?: readonly string[];
  /**
   * Sources of regular expressions: names that mean this provider even where nobody names it. Absent: its vendor's
   * own families.
   */
  readonly modelPatterns?: readonly string[];
  /** For models without tool calling of their own: tools are described in words. */
  readonly toolsInText?: boolean;
}

export class LLMProviderFactory {
  private readonly made = new Map<string, { readonly facts: string; readonly provider: ILLMProvider }>();
  private readonly credentials: CredentialSource | undefined;

  /** @param credentials where tokens come from for rows that hold no key of their own */
  constructor(credentials?: CredentialSource) {
    this.credentials = credentials;
  }

  /** @throws LLMInvalidRequestError for a row that cannot work */
  get(row: ProviderSettings): ILLMProvider {
    const facts = JSON.stringify(row);
    const known = this.made.get(row.id);
    if (known?.facts === facts) return known.provider;
    const credentials = row.apiKey === undefined ? (row.credentials ?? this.credentials) : row.credentials;
    const native = createProvider({ ...row, ...(credentials === undefined ? {} : { credentials }) });
    const provider = row.toolsInText === true ? new TextToolProvider(native) : native;
    this.made.set(row.id, { facts, provider });
    return provider;
  }

  /** Forgets a row that is gone. */
  remove(id: string): void {
    this.made.delete(id);
  }
}
