/** Tokens as issued by an authorization server. */
export interface TokenSet {
  /** `api_key`: an API key like any other, which does not expire. */
  readonly kind: 'bearer' | 'api_key';
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** From the moment of receipt. Absent if the server did not state it. */
  readonly expiresInMs?: number;
  readonly scopes?: readonly string[];
}
