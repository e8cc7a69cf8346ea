/** Wires signing in at an OpenID provider. */
import { Identities, IDENTITIES, IdentityStore } from '../api/signIn/Identities';
import { SIGN_IN_STATES, UsedStates } from '../api/signIn/UsedStates';
import { SignInFlow } from '../api/signIn/SignInFlow';
import type { OpenIdSignIn } from '../api/signIn/signInRoutes';
import { isLLMError } from '../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import { DEFAULT_TRANSPORT_LIMITS } from '../business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../business/ai/infrastructure/clients/http/guardedFetch';
import { permitsHost } from '../business/ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../business/ai/infrastructure/clients/http/privateHosts';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { OpenIdServer } from '../business/providers/infrastructure/oauth/OpenIdServer';
import { ServerMetadataCache } from '../business/providers/infrastructure/oauth/ServerMetadataCache';
import { KeyRing } from '../business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../business/providers/infrastructure/sealing/SealingService';
import { systemClock } from '../business/providers/infrastructure/system/systemClock';
import type { OidcSettings } from './settings/oidc';

export interface SignInPorts {
  readonly database: DocumentDatabase;
  readonly secretKeys: string;
  readonly rootUrl: string;
  readonly allowPrivateHosts: PrivateHosts;
  readonly logger: Logger;
}

export interface SignIn {
  readonly identities: Identities;
  readonly openId: OpenIdSignIn;
  /** Closes the sockets to the provider. */
  close(): void;
}

/** Creates the indexes, too. @throws errors of the database */
export async function createSignIn(settings: OidcSettings, ports: SignInPorts): Promise<SignIn> {
  const { issuer, clientId, clientSecret, scopes, rules, name, isOnly, endsSession } = settings;
  const { database, logger } = ports;
  const rootUrl = ports.rootUrl.replace(/\/+$/, '');
  // The operator has named the issuer, so it may be anywhere; what it names in turn may not.
  const hosts = ports.allowPrivateHosts === true || [
    ...(ports.allowPrivateHosts || []),
    issuer.hostname.replace(/^\[|\]$/g, ''),
  ];
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: hosts });
  const allowInsecure = ({ hostname }: URL): boolean =>
    permitsHost(ports.allowPrivateHosts, hostname) || (issuer.protocol === 'http:' && hostname === issuer.hostname);
  const server = new OpenIdServer({
    fetch,
    metadata: new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure }),
    client: omitUndefined({
      settings: { protocol: 'oauth2', issuer: issuer.href, discovery: 'oidc', clientId, scopes },
      secret: clientSecret,
    }),
    allowInsecure,
  });
  const store = new IdentityStore(database.collection(IDENTITIES));
  const states = new UsedStates(database.collection(SIGN_IN_STATES));
  await Promise.all([store.ready(), states.ready()]);
  const identities = new Identities({ store, issuer: issuer.href, rules });
  const sealer = new SealingService(KeyRing.parse(ports.secretKeys));
  const flow = new SignInFlow({ server, sealer, states, identities, rules, rootUrl });
  const signOutUrl = async (): Promise<URL | undefined> => {
    if (!endsSession) return undefined;
    try {
      return await server.signOutUrl(`${rootUrl}/`);
    } catch (error) {
      if (!isLLMError(error)) throw error;
      logger.warn('The session at the OpenID provider could not be ended.', { error });
      return undefined;
    }
  };
  return {
    identities,
    openId: { name, flow, isOnly, rootUrl, signOutUrl },
    close: () => fetch.close(),
  };
}
