/**
 * OAuth 2.1 and OpenID Connect through `oauth4webapi`: always PKCE with S256, `iss` validation (RFC 9207), resource
 * indicators (RFC 8707).
 */
import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  clientCredentialsGrantRequest,
  processAuthorizationCodeResponse,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  validateAuthResponse,
} from 'oauth4webapi';
import type { TokenEndpointResponse } from 'oauth4webapi';
import { LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';
import type {
  AuthorizationResponse,
  AuthorizationRequest,
  AuthorizationServer,
  OAuthClient,
} from '../../domain/interfaces/AuthorizationServer';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import type { TokenSet } from '../../domain/types/TokenSet';
import { clientContext } from './clientContext';
import type { ClientContextOptions } from './clientContext';
import { withSafeErrors } from './withSafeErrors';

export class OAuth2Server implements AuthorizationServer {
  private readonly options: ClientContextOptions;

  constructor(options: ClientContextOptions) {
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
    const context = await clientContext(this.options, client);
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
    const context = await clientContext(this.options, client, () => {
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
    const context = await clientContext(this.options, client);
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
    const context = await clientContext(this.options, client);
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
}

function isOpenId({ scopes }: OAuthSettings): boolean {
  return scopes.includes('openid');
}

function resourcesOf({ resources = [] }: OAuthSettings): URLSearchParams {
  return new URLSearchParams(resources.map((resource) => ['resource', resource]));
}

/** @param requested the granted scopes if the response does not state them, by RFC 6749, 5.1 */
function toTokenSet(response: TokenEndpointResponse, requested?: readonly string[]): TokenSet {
  if (response.token_type !== 'bearer')
    throw new OAuthRefusal('unsupported_token_type', 'The server issued a token that is not a bearer token.');
  const scopes = response.scope === undefined ? requested : response.scope.split(' ').filter((scope) => scope !== '');
  return omitUndefined({
    kind: 'bearer',
    accessToken: response.access_token,
    refreshToken: response.refresh_token,
    expiresInMs: response.expires_in === undefined ? undefined : response.expires_in * 1000,
    scopes,
  });
}
