/** Access to `/mcp` with the tokens of an authorization server that the operator has named. */
import type { ApiPrincipal, Scope } from '../../api/auth/ApiPrincipal';
import type { McpAccess } from './api/addMcpRoutes';
import { DEFAULT_TRANSPORT_LIMITS } from '../ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../ai/infrastructure/clients/http/guardedFetch';
import { permitsHost } from '../ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../ai/infrastructure/clients/http/privateHosts';
import { JwtAccessTokens } from '../providers/infrastructure/oauth/JwtAccessTokens';
import { ServerMetadataCache } from '../providers/infrastructure/oauth/ServerMetadataCache';
import { systemClock } from '../providers/infrastructure/system/systemClock';

export interface McpAccessPorts {
  readonly issuer: URL;
  /** What tokens must be issued for. */
  readonly audience: string;
  readonly allowPrivateHosts: PrivateHosts;
}

export interface OpenedMcpAccess extends McpAccess {
  /** Closes the sockets to the server. */
  close(): void;
}

/** Tokens of others never have the rights of admins. */
const GRANTED: readonly Scope[] = ['generate', 'read', 'approve'];
/** No user of this server, and nobody who signs in at the dashboard, has such an id. */
const PREFIX = 'oauth:';

export function createMcpAccess({ issuer, audience, allowPrivateHosts }: McpAccessPorts): OpenedMcpAccess {
  // The operator has named the issuer, so it may be anywhere; what it names in turn may not.
  const hosts = allowPrivateHosts === true || [...(allowPrivateHosts || []), issuer.hostname.replace(/^\[|\]$/g, '')];
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: hosts });
  const allowInsecure = ({ hostname }: URL): boolean =>
    permitsHost(allowPrivateHosts, hostname) || (issuer.protocol === 'http:' && hostname === issuer.hostname);
  const metadata = new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure });
  const tokens = new JwtAccessTokens({ issuer: issuerOf(issuer), audience, fetch, metadata, allowInsecure });
  return {
    issuer: tokens.issuer,
    // JWTs are those of the authorization server. This server's own tokens are none.
    accepts: (token) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token),
    async verify(token): Promise<ApiPrincipal | undefined> {
      const grant = await tokens.verify(token);
      if (grant === undefined || !/^[\x21-\x7e]{1,200}$/.test(grant.subject)) return undefined;
      return { userId: PREFIX + grant.subject, scopes: GRANTED.filter((scope) => grant.scopes.includes(scope)) };
    },
    close: () => fetch.close(),
  };
}

/** Returns the issuer as it writes itself: without the slash that URL adds to an origin. */
function issuerOf({ href, pathname }: URL): string {
  return pathname === '/' ? href.slice(0, -1) : href;
}
