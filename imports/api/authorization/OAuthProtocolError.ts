/** An error as OAuth names it. https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

export class OAuthProtocolError extends Error {
  readonly code: OAuthErrorCode;
  /** Where the client is told of it, if the request says that beyond doubt. */
  readonly redirect: URL | undefined;

  constructor(code: OAuthErrorCode, description: string, redirect?: URL) {
    super(description);
    this.name = 'OAuthProtocolError';
    this.code = code;
    this.redirect = redirect;
  }
}
