/** The port to a server that knows people and signs them in: OpenID Connect. */
import type { AuthorizationRequest, AuthorizationResponse } from './AuthorizationServer';

/** What the server says of the person who signed in, by names of OpenID Connect. */
export type IdentityClaims = Readonly<Record<string, unknown>> & {
  /** Unique at the issuer, and never given to somebody else. */
  readonly sub: string;
};

export interface IdentityServer {
  readonly issuer: string;
  /** The URL to send the browser to. @throws LLMError */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /**
   * Exchanges the code of a callback, and verifies the ID token: signature, issuer, audience, nonce and times.
   * @param claims those that are needed; the server is asked for them if the ID token lacks one
   * @throws OAuthRefusal, LLMError
   */
  identify(response: AuthorizationResponse, claims: readonly string[]): Promise<IdentityClaims>;
  /** Where a browser ends its session at the server; undefined if the server offers no such page. @throws LLMError */
  signOutUrl(returnTo: string): Promise<URL | undefined>;
}
