/** What an authorization server gave. */
export interface TokenSet {
  /** `api_key`: a key that is used like any other and never expires by itself. */
  readonly kind: 'bearer' | 'api_key';
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** From the moment of receipt, in milliseconds; absent when the server did not say. */
  readonly expiresInMs?: number;
  readonly scopes?: readonly string[];
}
