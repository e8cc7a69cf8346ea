/** The only fields of a provider that users may see. */
import type { VendorName } from '../../../ai/domain/types/VendorTypes';
import type { AuthKind, Provider } from './Provider';

export interface PublicProvider {
  readonly _id: string;
  readonly name: string;
  readonly vendor: VendorName;
  readonly auth: { readonly kind: AuthKind };
  readonly defaultModel?: string;
  readonly allowedModels?: readonly string[];
  /** Whether there is a usable credential for this user's calls. */
  readonly connected: boolean;
  readonly needsReconnect: boolean;
  readonly enabled: boolean;
  /** Defined in the server's settings, and changed there only. */
  readonly configured?: true;
}

export interface ConnectionState {
  readonly connected: boolean;
  readonly needsReconnect: boolean;
}

export function toPublicProvider(provider: Provider, { connected, needsReconnect }: ConnectionState): PublicProvider {
  const { _id, name, vendor, auth, defaultModel, allowedModels, enabled, configured } = provider;
  return {
    _id,
    name,
    vendor,
    auth: { kind: auth.kind },
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(allowedModels === undefined ? {} : { allowedModels: [...allowedModels] }),
    connected,
    needsReconnect,
    enabled,
    ...(configured === undefined ? {} : { configured }),
  };
}
