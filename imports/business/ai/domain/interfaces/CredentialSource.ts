/** Provides the token for a call. The AI module never sees what the token was created from. */
export interface Credential {
  readonly kind: 'api_key' | 'bearer';
  readonly token: string;
  /** The user's own account: that it is refused or limited concerns nobody else. */
  readonly isOwn?: boolean;
}

export interface CredentialSource {
  /**
   * @param request.forceRefresh the vendor rejected the token that was returned last
   * @param request.refusedToken that token: if there is a newer one already, none is requested
   * @throws LLMAuthError if the user has no usable credential
   */
  getAccessToken(request: {
    readonly providerId: string;
    readonly userId: string;
    readonly forceRefresh?: boolean;
    readonly refusedToken?: string;
  }): Promise<Credential | undefined>;
}
