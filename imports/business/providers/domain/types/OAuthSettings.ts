/** A provider's settings for its authorization server and for this app as its client. */

/** OAuth 2, or OpenRouter's flow, in which a code is exchanged for an API key. */
export type OAuthProtocol = 'oauth2' | 'key_exchange';

/** Where endpoints come from: OpenID Connect Discovery, RFC 8414, whichever of the two responds, or these settings. */
export const DISCOVERY_METHODS = ['auto', 'oidc', 'oauth2', 'none'] as const;
export type DiscoveryMethod = (typeof DISCOVERY_METHODS)[number];

export const CLIENT_AUTHENTICATIONS = ['client_secret_basic', 'client_secret_post'] as const;
export type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number];

export interface OAuthSettings {
  readonly protocol: OAuthProtocol;
  /** Compared with `iss` in authorization responses (RFC 9207) and in ID tokens. */
  readonly issuer: string;
  readonly discovery: DiscoveryMethod;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** RFC 7009. */
  readonly revocationEndpoint?: string;
  readonly clientId: string;
  /** How the client secret is sent, if there is one. Default: what the server prefers. */
  readonly clientAuthentication?: ClientAuthentication;
  readonly scopes: readonly string[];
  /** Resource indicators (RFC 8707). */
  readonly resources?: readonly string[];
  /** Extra parameters of the authorization request, such as `access_type`. */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
}
