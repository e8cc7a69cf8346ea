/** Vendors, models and the health of providers as people see them. Times are milliseconds since the epoch. */
import type { ErrorCode } from '../errors/LLMErrors';
import type { ModelCapabilities } from '../interfaces/ILLMProvider';
import type { VendorName, WireName } from './VendorTypes';

export interface ModelInfo {
  readonly id: string;
  /** In tokens. Absent, like the price: unknown. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly price?: NonNullable<ModelCapabilities['price']>;
}

/** What an account with a vendor needs. */
export interface VendorInfo {
  readonly vendor: VendorName;
  readonly label: string;
  /** The protocols that an account can name, the default first. Fewer than two: there is no choice. */
  readonly wires: readonly WireName[];
  /** The vendor's own server. Absent: there is none. */
  readonly baseURL?: string;
  readonly requiresBaseURL: boolean;
  /** An account with a base URL can do without a key. */
  readonly keyIsOptional: boolean;
  /** Accounts have a deployment and an API version. */
  readonly hasDeployments: boolean;
  readonly defaultModel?: string;
  /** The models that Bolide knows, the default first. */
  readonly models: readonly ModelInfo[];
}

export interface ProviderModels {
  readonly models: readonly ModelInfo[];
  /** `settings`: the allowed models. `vendor`: the vendor's current list. `table`: what Bolide knows of the vendor. */
  readonly source: 'settings' | 'vendor' | 'table';
  /** Why the vendor's list could not be read. */
  readonly problem?: string;
}

/** What calls have shown about a provider. */
export interface ProviderHealth {
  readonly providerId: string;
  readonly lastSuccessAt?: number;
  /** The last failure of the provider or its account, not of a request. */
  readonly lastError?: {
    readonly at: number;
    readonly code: ErrorCode;
    /** Absent for users who are no admins. */
    readonly message?: string;
  };
  /**
   * `open`: the provider failed repeatedly and is not called, for everyone or for the one user whose calls failed.
   * `probing`: one call finds out whether it is back.
   */
  readonly circuit: 'closed' | 'open' | 'probing';
  /** When an open circuit lets a call through. */
  readonly opensAt?: number;
  /** Calls of the last 24 hours, and the median of their durations in milliseconds. Absent: not recorded. */
  readonly calls?: number;
  readonly p50?: number;
}
