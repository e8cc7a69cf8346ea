/** What is said of one authorization server and of this app as its client: data in a provider's row. */

/** How the server talks: OAuth 2, or a code that is exchanged for an API key. */
export type OAuthProtocol = 'oauth2' | 'key_exchange';

/** Where endpoints come from: OpenID Connect Discovery, RFC 8414, the first of the two that answers, or this row. */
export const DISCOVERY_METHODS = ['auto', 'oidc', 'oauth2', 'none'] as const;
export type DiscoveryMethod = (typeof DISCOVERY_METHODS)[number];

export const CLIENT_AUTHENTICATIONS = ['client_secret_basic', 'client_secret_post'] as const;
export type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number];

export interface OAuthSettings {
  readonly protocol: OAuthProtocol;
  /** Compared with `iss` in answers (RFC 9207) and in ID tokens. */
  readonly issuer: string;
  readonly discovery: DiscoveryMethod;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** RFC 7009. */
  readonly revocationEndpoint?: string;
  readonly clientId: string;
  /** How the client secret is sent, where there is one; what the server prefers when absent. */
  readonly clientAuthentication?: ClientAuthentication;
  readonly scopes: readonly string[];
  /** Resource indicators (RFC 8707). */
  readonly resources?: readonly string[];
  /** Extra parameters of the authorization request, e.g. `access_type`. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
}
