/**
 * OAuth 2.1 and OpenID Connect through `oauth4webapi`: PKCE S256 always, `iss` checked (RFC 9207), resource
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
  /** Permits plain http: for development and tests only. */
  readonly allowInsecure: boolean;
}

/** How far the server's clock may be off, in seconds, where an ID token names times. */
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
      throw new LLMInvalidRequestError('the authorization server names no authorization endpoint', {
        path: 'auth.oauth',
      });
    // A server that knows only the plain method would accept a stolen code.
    if (metadata.code_challenge_methods_supported?.includes('S256') === false) {
      throw new LLMInvalidRequestError('the authorization server does not support PKCE with S256', {
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

  async exchange(client: OAuthClient, answer: AuthorizationResponse): Promise<TokenSet> {
    const { settings } = client;
    const contextFor = await this.side(client);
    return asked([client.secret, answer.codeVerifier, answer.state, answer.parameters.get('code')], async () => {
      const parameters = validateAuthResponse(contextFor.metadata, contextFor.client, answer.parameters, answer.state);
      const options = { ...contextFor.http, additionalParameters: resourcesOf(settings) };
      const { metadata, authentication } = contextFor;
      const response = await authorizationCodeGrantRequest(
        metadata,
        contextFor.client,
        authentication,
        parameters,
        answer.redirectUri,
        answer.codeVerifier,
        options,
      );
      const openId = isOpenId(settings);
      const expected = openId ? { expectedNonce: answer.nonce, requireIdToken: true } : {};
      return toTokenSet(
        await processAuthorizationCodeResponse(metadata, contextFor.client, response, expected),
        settings.scopes,
      );
    });
  }

  async refresh(client: OAuthClient, refreshToken: string, mayStillSend: () => boolean): Promise<TokenSet> {
    const side = await this.side(client, () => {
      if (!mayStillSend()) throw new StaleLeaseError();
    });
    return asked([client.secret, refreshToken], async () => {
      const options = { ...side.http, additionalParameters: resourcesOf(client.settings) };
      const response = await refreshTokenGrantRequest(
        side.metadata,
        side.client,
        side.authentication,
        refreshToken,
        options,
      );
      // RFC 6749, 6: no word about scopes means those that were granted, which may be fewer than were asked for.
      return toTokenSet(await processRefreshTokenResponse(side.metadata, side.client, response));
    });
  }

  async clientCredentials(client: OAuthClient): Promise<TokenSet> {
    const { settings } = client;
    const side = await this.side(client);
    return asked([client.secret], async () => {
      const parameters = resourcesOf(settings);
      if (settings.scopes.length > 0) parameters.set('scope', settings.scopes.join(' '));
      const response = await clientCredentialsGrantRequest(
        side.metadata,
        side.client,
        side.authentication,
        parameters,
        side.http,
      );
      return toTokenSet(await processClientCredentialsResponse(side.metadata, side.client, response), settings.scopes);
    });
  }

  async revoke(
    client: OAuthClient,
    { accessToken, refreshToken }: Pick<TokenSet, 'accessToken' | 'refreshToken'>,
  ): Promise<void> {
    const side = await this.side(client);
    if (side.metadata.revocation_endpoint === undefined) return;
    // RFC 7009, 2.1: with the refresh token goes the whole grant.
    const [token, hint] = refreshToken === undefined ? [accessToken, 'access_token'] : [refreshToken, 'refresh_token'];
    await asked([client.secret, token], async () => {
      const options = { ...side.http, additionalParameters: { token_type_hint: hint } };
      await processRevocationResponse(
        await revocationRequest(side.metadata, side.client, side.authentication, token, options),
      );
    });
  }

  private async side({ settings, secret }: OAuthClient, beforeSend?: () => void): Promise<ClientContext> {
    const { fetch, allowInsecure, metadata: cache } = this.options;
    const metadata = await cache.get(settings);
    return {
      metadata,
      client: { client_id: settings.clientId, [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authentication: clientAuthentication(settings, metadata, secret),
      http: {
        [customFetch]: createOAuthFetch(fetch, { beforeSend, readBody: normalizeTokenResponse }),
        [allowInsecureRequests]: allowInsecure,
      },
    };
  }
}

/** All that a request of the library wants beside its own facts. */
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
  // RFC 8414, 2: a server that lists no methods takes basic authentication.
  const method =
    settings.clientAuthentication ??
    (offered === undefined || offered.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** @param withSafeErrors the scopes that no word about scopes means. RFC 6749, 5.1 */
function toTokenSet(response: TokenEndpointResponse, withSafeErrors?: readonly string[]): TokenSet {
  if (response.token_type !== 'bearer')
    throw new OAuthRefusal('unsupported_token_type', 'the server gave a token that is not a bearer token');
  const scopes =
    response.scope === undefined ? withSafeErrors : response.scope.split(' ').filter((scope) => scope !== '');
  return {
    kind: 'bearer',
    accessToken: response.access_token,
    ...(response.refresh_token === undefined ? {} : { refreshToken: response.refresh_token }),
    ...(response.expires_in === undefined ? {} : { expiresInMs: response.expires_in * 1000 }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

/**
 * The library's errors quote whole answers, tokens among them: only the server's own words leave here, and no cause.
 * @param sent what the server may quote
 */
async function asked<T>(sent: readonly (string | null | undefined)[], ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isLLMError(error) || error instanceof OAuthRefusal || error instanceof StaleLeaseError) throw error;
    throw safeError(error, (words) => safeMessage(withoutSecrets(words, sent)));
  }
}

function safeError(error: unknown, safe: (words: string) => string): Error {
  const refusal = (word: string, description?: string): OAuthRefusal =>
    new OAuthRefusal(safe(word).slice(0, 100), description === undefined ? undefined : safe(description));
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

/** What may be over soon. */
function transientError(status: number, error?: string): Error | undefined {
  if (status === 429) return new LLMRateLimitError('the authorization server is asked too often', { status });
  if (status < 500 && error !== 'server_error' && error !== 'temporarily_unavailable') return undefined;
  return new LLMConnectionError(`the authorization server can't answer now (status ${status})`, { status });
}

/** An answer that is no OAuth error at all, e.g. a gateway's page. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && error.cause instanceof Response ? error.cause.status : undefined;
}
