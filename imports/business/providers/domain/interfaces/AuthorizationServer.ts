/** The port to authorization servers, with one implementation per protocol. */
import type { OAuthSettings } from '../types/OAuthSettings';
import type { TokenSet } from '../types/TokenSet';

/** This app as a client of the server. */
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

/** The parameters of the callback, with the request they respond to. */
export interface AuthorizationResponse extends AuthorizationRequest {
  readonly parameters: URLSearchParams;
}

export interface AuthorizationServer {
  /** Fetches what is needed before a secret can be sent, such as the server's metadata. @throws LLMError */
  prepare(settings: OAuthSettings): Promise<void>;
  /** The URL to send the user to. @throws LLMError if the server lacks a required feature */
  authorizationUrl(settings: OAuthSettings, request: AuthorizationRequest): Promise<URL>;
  /** Validates the response and exchanges its code for tokens. @throws OAuthRefusal, LLMError */
  exchange(client: OAuthClient, response: AuthorizationResponse): Promise<TokenSet>;
  /**
   * @param mayStillSend checked directly before the token is sent
   * @throws OAuthRefusal, StaleLeaseError, LLMError
   */
  refresh(client: OAuthClient, refreshToken: string, mayStillSend: () => boolean): Promise<TokenSet>;
  /** @throws OAuthRefusal, LLMError */
  clientCredentials(client: OAuthClient): Promise<TokenSet>;
  /** Does nothing if the server has no revocation endpoint. @throws LLMError */
  revoke(client: OAuthClient, tokens: Pick<TokenSet, 'accessToken' | 'refreshToken'>): Promise<void>;
}

/** The server rejected the request, or its response breaks the protocol. */
export class OAuthRefusal extends Error {
  /** The server's error code, such as `invalid_grant`; `invalid_response` for a response that breaks the protocol. */
  readonly error: string;
  /** The server's description, safe to show as text. */
  readonly description: string | undefined;

  constructor(error: string, description?: string) {
    super(`The authorization server rejected the request: ${error}.`);
    this.name = 'OAuthRefusal';
    this.error = error;
    this.description = description;
  }
}

/** The lease to refresh was held for too long, so the request was not sent. */
export class StaleLeaseError extends Error {
  constructor() {
    super('The token was not refreshed because the lease was held for too long.');
    this.name = 'StaleLeaseError';
  }
}
