/** The other side of OAuth, as the flow and the token service see it. One implementation for each protocol. */
import type { OAuthSettings } from '../types/OAuthSettings';
import type { TokenSet } from '../types/TokenSet';

/** This app at the server. */
export interface OAuthClient {
  readonly settings: OAuthSettings;
  /** Absent for public clients. */
  readonly secret?: string;
}

export interface AuthorizationRequest {
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** What came back with the browser. */
export interface AuthorizationResponse extends AuthorizationRequest {
  readonly parameters: URLSearchParams;
}

export interface AuthorizationServer {
  /** Gets everything ready that must be known before a secret is sent. @throws LLMError */
  prepare(settings: OAuthSettings): Promise<void>;
  /** Where to send the user. @throws LLMError when the server can't do what is always asked of it */
  authorizationUrl(settings: OAuthSettings, request: AuthorizationRequest): Promise<URL>;
  /** Checks the answer and exchanges its code. @throws OAuthRefusal, LLMError */
  exchange(client: OAuthClient, answer: AuthorizationResponse): Promise<TokenSet>;
  /**
   * @param mayStillSend asked at the last moment before the token leaves @throws OAuthRefusal, StaleLeaseError,
   * LLMError
   */
  refresh(client: OAuthClient, refreshToken: string, mayStillSend: () => boolean): Promise<TokenSet>;
  /** @throws OAuthRefusal, LLMError */
  clientCredentials(client: OAuthClient): Promise<TokenSet>;
  /** Does nothing where the server offers no revocation. @throws LLMError */
  revoke(client: OAuthClient, tokens: Pick<TokenSet, 'accessToken' | 'refreshToken'>): Promise<void>;
}

/** The server said no. */
export class OAuthRefusal extends Error {
  /** The server's word, e.g. `invalid_grant`, or ours for an answer that breaks the protocol. */
  readonly error: string;
  /** What the server says about it, safe to show as text. */
  readonly description: string | undefined;

  constructor(error: string, description?: string) {
    super(`the authorization server refused: ${error}`);
    this.name = 'OAuthRefusal';
    this.error = error;
    this.description = description;
  }
}

/** The right to refresh was held for too long to be used any more. */
export class StaleLeaseError extends Error {
  constructor() {
    super('a token was not refreshed because the right to do so had been held for too long');
    this.name = 'StaleLeaseError';
  }
}
