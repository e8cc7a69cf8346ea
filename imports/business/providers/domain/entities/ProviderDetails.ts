/** A provider as admins edit it: everything but secrets. */
import type { Provider } from './Provider';
import type { PublicProvider } from './PublicProvider';

export interface ProviderDetails extends PublicProvider {
  /** With the settings of OAuth, but never the client's secret. */
  readonly settings: Omit<
    Provider,
    '_id' | 'name' | 'vendor' | 'defaultModel' | 'allowedModels' | 'enabled' | 'configured'
  >;
  /** Whether a shared key is stored. Neither the key nor the client secret is ever shown. */
  readonly hasKey: boolean;
  readonly hasClientSecret: boolean;
  /** Users with a key or a connected account of their own. */
  readonly connectedUsers: number;
  /** Runs that have not ended and use it. */
  readonly unfinishedRuns: number;
}
