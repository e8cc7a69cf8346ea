/** The dependencies of an OAuth flow over a host's store, for tests that replace one of them. */
import { DEFAULT_TRANSPORT_LIMITS } from '../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { CredentialVault } from '../../../imports/business/providers/application/credentials/CredentialVault';
import { OAuthClients } from '../../../imports/business/providers/application/oauth/OAuthClients';
import type { OAuthFlowPorts } from '../../../imports/business/providers/application/oauth/OAuthFlow';
import { TokenRefresher } from '../../../imports/business/providers/application/tokens/TokenRefresher';
import { TokenService } from '../../../imports/business/providers/application/tokens/TokenService';
import { UsageLimits } from '../../../imports/business/providers/application/UsageLimits';
import type { AuthorizationServer } from '../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import type { Sealer } from '../../../imports/business/providers/domain/interfaces/Sealer';
import { COLLECTIONS } from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { KeyExchangeServer } from '../../../imports/business/providers/infrastructure/oauth/KeyExchangeServer';
import { OAuth2Server } from '../../../imports/business/providers/infrastructure/oauth/OAuth2Server';
import { ServerMetadataCache } from '../../../imports/business/providers/infrastructure/oauth/ServerMetadataCache';
import { createAuthorizationStore } from '../../../imports/business/providers/infrastructure/persistence/createAuthorizationStore';
import { createCredentialStore } from '../../../imports/business/providers/infrastructure/persistence/createCredentialStore';
import { createProviderStore } from '../../../imports/business/providers/infrastructure/persistence/createProviderStore';
import { createUsageStore } from '../../../imports/business/providers/infrastructure/persistence/createUsageStore';
import type { UsageDocument } from '../../../imports/business/providers/infrastructure/persistence/createUsageStore';
import { KeyRing } from '../../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../../imports/business/providers/infrastructure/sealing/SealingService';
import { systemClock } from '../../../imports/business/providers/infrastructure/system/systemClock';
import type { ProvidersHost } from './ProvidersHost';

export interface FlowDependencies extends OAuthFlowPorts {
  readonly oauth2: AuthorizationServer;
  readonly tokens: TokenService;
}

/** @param overrides replacements, e.g. a sealer that ignores the context */
export function createFlowDependencies(
  app: ProvidersHost,
  overrides: {
    readonly sealer?: Sealer;
    readonly oauth2?: AuthorizationServer;
    readonly clock?: typeof systemClock;
  } = {},
): FlowDependencies {
  const { clock = systemClock } = overrides;
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: true });
  const sealer = overrides.sealer ?? new SealingService(KeyRing.parse(app.settings.secretKeys));
  const log = app.eventLog;
  const vault = new CredentialVault({ store: createCredentialStore(app.credentials, clock), sealer, log });
  const oauth2 =
    overrides.oauth2 ??
    new OAuth2Server({
      fetch,
      metadata: new ServerMetadataCache({ fetch, clock, allowInsecure: () => true }),
    });
  const clients = new OAuthClients({ oauth2, key_exchange: new KeyExchangeServer(fetch) }, vault, log);
  const providers = createProviderStore(app.providers);
  const { findUser } = app.module;
  const limits = new UsageLimits(
    createUsageStore(app.database.database.collection<UsageDocument>(COLLECTIONS.usage), clock),
  );
  const tokens = new TokenService({
    providers,
    vault,
    clients,
    refresher: new TokenRefresher({ vault, clock, log }),
    limits,
    findUser,
  });
  return {
    providers,
    authorizations: createAuthorizationStore(app.authorizations),
    vault,
    clients,
    sealer,
    findUser,
    clock,
    log,
    rootUrl: app.settings.rootUrl,
    oauth2,
    tokens,
  };
}
