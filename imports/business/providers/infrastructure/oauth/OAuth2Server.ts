/**
 * OAuth 2.1 and OpenID Connect through `oauth4webapi`: always PKCE with S256, `iss` validation (RFC 9207), resource
 * indicators (RFC 8707).
 */
import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  clientCredentialsGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  None,
  processAuthorizationCodeResponse,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  ResponseBodyError,
  revocationRequest,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import type { AuthorizationServer as ServerMetadata, Client, ClientAuth, TokenEndpointResponse } from 'oauth4webapi';
import {
  isLLMError,
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMRateLimitError,
} from '../../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../../ai/domain/errors/safeText';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';
import type {
  AuthorizationResponse,
  AuthorizationRequest,
  AuthorizationServer,
  OAuthClient,
} from '../../domain/interfaces/AuthorizationServer';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import type { TokenSet } from '../../domain/types/TokenSet';
import { withoutSecrets } from '../../domain/withoutSecrets';
import { createOAuthFetch } from './createOAuthFetch';
import type { OAuthFetch } from './createOAuthFetch';
import type { ServerMetadataCache } from './ServerMetadataCache';
import { normalizeTokenResponse } from './normalizeTokenResponse';

export interface OAuth2ServerOptions {
  readonly fetch: GuardedFetch;
  readonly metadata: ServerMetadataCache;
}

/** How far the server's clock may differ from ours in the times of an ID token. */
const CLOCK_TOLERANCE_SECONDS = 11 * 60;

export class OAuth2Server implements AuthorizationServer {
  private readonly options: OAuth2ServerOptions;

  constructor(options: OAuth2ServerOptions) {
    this.options = options;
  }

  async prepare(settings: OAuthSettings): Promise<void> {
    await this.options.metadata.get(settings);
  }

  async authorizationUrl(
    settings: OAuthSettings,
    { state, codeVerifier, nonce, redirectUri }: AuthorizationRequest,
  ): Promise<URL> {
    const metadata = await this.options.metadata.get(settings);
    const endpoint = metadata.authorization_endpoint;
    if (endpoint === undefined)
      throw new LLMInvalidRequestError('The authorization server has no authorization endpoint.', {
        path: 'auth.oauth',
      });
    // With the plain method, an intercepted code could be exchanged by an attacker.
    if (metadata.code_challenge_methods_supported?.includes('S256') === false) {
      throw new LLMInvalidRequestError('The authorization server does not support PKCE with S256.', {
        path: 'auth.oauth',
      });
    }
    const url = new URL(endpoint);
    const parameters = {
      ...settings.authorizationParameters,
      response_type: 'code',
      client_id: settings.clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ...(settings.scopes.length === 0 ? {} : { scope: settings.scopes.join(' ') }),
      ...(isOpenId(settings) ? { nonce } : {}),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    url.searchParams.delete('resource');
    for (const resource of settings.resources ?? []) url.searchParams.append('resource', resource);
    return url;
  }

  async exchange(client: OAuthClient, callback: AuthorizationResponse): Promise<TokenSet> {
    const { settings } = client;
    const { state, codeVerifier, nonce, redirectUri } = callback;
    const context = await this.contextFor(client);
    const { metadata, authentication, http } = context;
    return withSafeErrors([client.secret, codeVerifier, state, callback.parameters.get('code')], async () => {
      const response = await authorizationCodeGrantRequest(
        metadata,
        context.client,
        authentication,
        validateAuthResponse(metadata, context.client, callback.parameters, state),
        redirectUri,
        codeVerifier,
        { ...http, additionalParameters: resourcesOf(settings) },
      );
      const expected = isOpenId(settings) ? { expectedNonce: nonce, requireIdToken: true } : {};
      return toTokenSet(
        await processAuthorizationCodeResponse(metadata, context.client, response, expected),
        settings.scopes,
      );
    });
  }

  async refresh(client: OAuthClient, refreshToken: string, mayStillSend: () => boolean): Promise<TokenSet> {
    const context = await this.contextFor(client, () => {
      if (!mayStillSend()) throw new StaleLeaseError();
    });
    return withSafeErrors([client.secret, refreshToken], async () => {
      const options = { ...context.http, additionalParameters: resourcesOf(client.settings) };
      const response = await refreshTokenGrantRequest(
        context.metadata,
        context.client,
        context.authentication,
        refreshToken,
        options,
      );
      // RFC 6749, 6: without a scope in the response, the granted scopes are unchanged. They may be fewer than
      // requested.
      return toTokenSet(await processRefreshTokenResponse(context.metadata, context.client, response));
    });
  }

  async clientCredentials(client: OAuthClient): Promise<TokenSet> {
    const { settings } = client;
    const context = await this.contextFor(client);
    return withSafeErrors([client.secret], async () => {
      const parameters = resourcesOf(settings);
      if (settings.scopes.length > 0) parameters.set('scope', settings.scopes.join(' '));
      const response = await clientCredentialsGrantRequest(
        context.metadata,
        context.client,
        context.authentication,
        parameters,
        context.http,
      );
      return toTokenSet(
        await processClientCredentialsResponse(context.metadata, context.client, response),
        settings.scopes,
      );
    });
  }

  async revoke(
    client: OAuthClient,
    { accessToken, refreshToken }: Pick<TokenSet, 'accessToken' | 'refreshToken'>,
  ): Promise<void> {
    const context = await this.contextFor(client);
    if (context.metadata.revocation_endpoint === undefined) return;
    // RFC 7009, 2.1: revoking the refresh token revokes the entire grant.
    const [token, hint] = refreshToken === undefined ? [accessToken, 'access_token'] : [refreshToken, 'refresh_token'];
    await withSafeErrors([client.secret, token], async () => {
      const options = { ...context.http, additionalParameters: { token_type_hint: hint } };
      await processRevocationResponse(
        await revocationRequest(context.metadata, context.client, context.authentication, token, options),
      );
    });
  }

  private async contextFor({ settings, secret }: OAuthClient, beforeSend?: () => void): Promise<ClientContext> {
    const { fetch, metadata: cache } = this.options;
    const metadata = await cache.get(settings);
    return {
      metadata,
      client: { client_id: settings.clientId, [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authentication: clientAuthentication(settings, metadata, secret),
      http: {
        [customFetch]: createOAuthFetch(fetch, { beforeSend, readBody: normalizeTokenResponse }),
        // The guarded fetch decides which hosts are called over http.
        [allowInsecureRequests]: true,
      },
    };
  }
}

/** What every request of the library needs. */
interface ClientContext {
  readonly metadata: ServerMetadata;
  readonly client: Client;
  readonly authentication: ClientAuth;
  readonly http: { readonly [customFetch]: OAuthFetch; readonly [allowInsecureRequests]: boolean };
}

function isOpenId({ scopes }: OAuthSettings): boolean {
  return scopes.includes('openid');
}

function resourcesOf({ resources = [] }: OAuthSettings): URLSearchParams {
  return new URLSearchParams(resources.map((resource) => ['resource', resource]));
}

function clientAuthentication(
  settings: OAuthSettings,
  metadata: ServerMetadata,
  secret: string | undefined,
): ClientAuth {
  if (secret === undefined) return None();
  const offered = metadata.token_endpoint_auth_methods_supported;
  // RFC 8414, 2: a server that lists no methods accepts basic authentication.
  const method =
    settings.clientAuthentication ??
    (offered === undefined || offered.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** @param requested the granted scopes if the response does not state them, by RFC 6749, 5.1 */
function toTokenSet(response: TokenEndpointResponse, requested?: readonly string[]): TokenSet {
  if (response.token_type !== 'bearer')
    throw new OAuthRefusal('unsupported_token_type', 'The server issued a token that is not a bearer token.');
  const scopes = response.scope === undefined ? requested : response.scope.split(' ').filter((scope) => scope !== '');
  return {
    kind: 'bearer',
    accessToken: response.access_token,
    ...(response.refresh_token === undefined ? {} : { refreshToken: response.refresh_token }),
    ...(response.expires_in === undefined ? {} : { expiresInMs: response.expires_in * 1000 }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

/**
 * The library's errors quote entire responses, including tokens, so they are replaced by errors without a cause that
 * hold only the server's error code and description.
 * @param sent secrets that the server may quote
 */
async function withSafeErrors<T>(sent: readonly (string | null | undefined)[], request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (isLLMError(error) || error instanceof OAuthRefusal || error instanceof StaleLeaseError) throw error;
    throw safeError(error, (text) => safeMessage(withoutSecrets(text, sent)));
  }
}

function safeError(error: unknown, safe: (text: string) => string): Error {
  const refusal = (code: string, description?: string): OAuthRefusal =>
    new OAuthRefusal(safe(code).slice(0, 100), description === undefined ? undefined : safe(description));
  if (error instanceof AuthorizationResponseError) return refusal(error.error, error.error_description);
  if (error instanceof ResponseBodyError)
    return transientError(error.status, error.error) ?? refusal(error.error, error.error_description);
  if (error instanceof WWWAuthenticateChallengeError) return transientError(error.status) ?? refusal('invalid_client');
  const status = statusOf(error);
  return (
    (status === undefined ? undefined : transientError(status)) ??
    refusal('invalid_response', error instanceof Error ? error.message : undefined)
  );
}

/** An error that a later attempt may not meet, or undefined. */
function transientError(status: number, error?: string): Error | undefined {
  if (status === 429) return new LLMRateLimitError('The authorization server received too many requests.', { status });
  if (status < 500 && error !== 'server_error' && error !== 'temporarily_unavailable') return undefined;
  return new LLMConnectionError(`The authorization server is unavailable (status ${status}).`, { status });
}

/** The status of a response that is not an OAuth error at all, such as a proxy's error page. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && error.cause instanceof Response ? error.cause.status : undefined;
}
