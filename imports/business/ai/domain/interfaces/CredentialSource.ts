/** Where the AI module gets the token for a call; it never sees what the token was made from. */
export interface Credential {
  readonly kind: 'api_key' | 'bearer';
  readonly token: string;
}

export interface CredentialSource {
  /**
   * @param request.forceRefresh the token that was given last was refused by the vendor
   * @param request.refusedToken that token: when there is another one by now, none is fetched
   * @throws LLMAuthError when the user has no usable credential
   */
  getAccessToken(request: {
    readonly providerId: string;
    readonly userId: string;
    readonly forceRefresh?: boolean;
    readonly refusedToken?: string;
  }): Promise<Credential | undefined>;
}
