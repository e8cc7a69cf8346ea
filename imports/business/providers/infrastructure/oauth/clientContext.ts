/** What every request of `oauth4webapi` needs: the server, this app as its client, and the guarded fetch. */
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  None,
} from 'oauth4webapi';
import type { AuthorizationServer as ServerMetadata, Client, ClientAuth } from 'oauth4webapi';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import type { OAuthClient } from '../../domain/interfaces/AuthorizationServer';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import { createOAuthFetch } from './createOAuthFetch';
import type { OAuthFetch } from './createOAuthFetch';
import { normalizeTokenResponse } from './normalizeTokenResponse';
import type { ServerMetadataCache } from './ServerMetadataCache';

export interface ClientContextOptions {
  readonly fetch: GuardedFetch;
  readonly metadata: ServerMetadataCache;
}

export interface ClientContext {
  readonly metadata: ServerMetadata;
  readonly client: Client;
  readonly authentication: ClientAuth;
  readonly http: { readonly [customFetch]: OAuthFetch; readonly [allowInsecureRequests]: boolean };
}

/** How far the server's clock may differ from ours in the times of an ID token. */
const CLOCK_TOLERANCE_SECONDS = 11 * 60;

/** @param beforeSend called directly before each request; may throw to cancel it */
export async function clientContext(
  { fetch, metadata: cache }: ClientContextOptions,
  { settings, secret }: OAuthClient,
  beforeSend?: () => void,
): Promise<ClientContext> {
  const metadata = await cache.get(settings);
  return {
    metadata,
    client: { client_id: settings.clientId, [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authentication: clientAuthentication(settings, metadata, secret),
    http: {
      [customFetch]: createOAuthFetch(fetch, { beforeSend, readBody: normalizeTokenResponse }),
      // The guarded fetch decides which hosts are called over http.
      [allowInsecureRequests]: true,
    },
  };
}

function clientAuthentication(
  settings: OAuthSettings,
  metadata: ServerMetadata,
  secret: string | undefined,
): ClientAuth {
  if (secret === undefined) return None();
  const offered = metadata.token_endpoint_auth_methods_supported;
  // RFC 8414, 2: a server that lists no methods accepts basic authentication.
  const method =
    settings.clientAuthentication ??
    (offered === undefined || offered.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
