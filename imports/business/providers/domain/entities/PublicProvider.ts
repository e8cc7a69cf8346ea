/** The only fields of a provider that users may see. */
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { VendorName } from '../../../ai/domain/types/VendorTypes';
import type { AuthKind, Provider } from './Provider';
import type { ReconnectReason } from './StoredCredential';

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
  /** Present if it is known why the user must connect again. */
  readonly reconnectReason?: ReconnectReason;
  readonly enabled: boolean;
  /** Defined in the server's settings, and changed there only. */
  readonly configured?: true;
}

export interface ConnectionState {
  readonly connected: boolean;
  readonly needsReconnect: boolean;
  readonly reconnectReason?: ReconnectReason;
}

export function toPublicProvider(
  provider: Provider,
  { connected, needsReconnect, reconnectReason }: ConnectionState,
): PublicProvider {
  const { _id, name, vendor, auth, defaultModel, allowedModels, enabled, configured } = provider;
  return omitUndefined({
    _id,
    name,
    vendor,
    auth: { kind: auth.kind },
    defaultModel,
    allowedModels: allowedModels && [...allowedModels],
    connected,
    needsReconnect,
    reconnectReason,
    enabled,
    configured,
  });
}
