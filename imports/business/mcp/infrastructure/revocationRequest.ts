/** Asks an authorization server to revoke tokens: https://www.rfc-editor.org/rfc/rfc7009 */
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

export interface RevocationRequest {
  readonly url: string;
  readonly init: { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams };
}

/** @returns undefined if the server cannot be asked */
export function revocationRequest(
  discovery: OAuthDiscoveryState | undefined,
  client: StoredOAuthClientInformation | undefined,
  tokens: StoredOAuthTokens,
): RevocationRequest | undefined {
  const metadata = discovery?.authorizationServerMetadata;
  const methods = metadata?.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const url = metadata !== undefined && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof url !== 'string' || client === undefined) return undefined;
  const { client_id: id, client_secret: secret } = client;
  const { access_token, refresh_token } = tokens;
  // Section 2.1: with the refresh token, the entire grant is revoked.
  const body = new URLSearchParams(
    refresh_token === undefined
      ? { token: access_token, token_type_hint: 'access_token' }
      : { token: refresh_token, token_type_hint: 'refresh_token' },
  );
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (secret === undefined) body.set('client_id', id);
  else if (methods.includes('client_secret_basic')) headers['authorization'] = basic(id, secret);
  else {
    body.set('client_id', id);
    body.set('client_secret', secret);
  }
  return { url, init: { method: 'POST', headers, body } };
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function basic(id: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams({ text }).toString().slice('text='.length);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}
