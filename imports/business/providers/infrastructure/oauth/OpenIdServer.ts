/** Signs people in at an OpenID provider: the authorization code flow, whose ID token is verified with the JWKS. */
import {
  authorizationCodeGrantRequest,
  clockTolerance,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  processUserInfoResponse,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from 'oauth4webapi';
import type { AuthorizationServer as ServerMetadata } from 'oauth4webapi';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import type {
  AuthorizationRequest,
  AuthorizationResponse,
  OAuthClient,
} from '../../domain/interfaces/AuthorizationServer';
import { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';
import type { IdentityClaims, IdentityServer } from '../../domain/interfaces/IdentityServer';
import { clientContext } from './clientContext';
import type { ClientContext, ClientContextOptions } from './clientContext';
import { OAuth2Server } from './OAuth2Server';
import { checkEndpoint } from './ServerMetadataCache';
import { withSafeErrors } from './withSafeErrors';

export interface OpenIdServerOptions extends ClientContextOptions {
  /** This app at the server. Its settings have the scope `openid`. */
  readonly client: OAuthClient;
  readonly allowInsecure: HttpRule;
}

/** How far the server's clock may differ from ours. */
const CLOCK_TOLERANCE_SECONDS = 60;

export class OpenIdServer implements IdentityServer {
  private readonly options: OpenIdServerOptions;
  private readonly server: OAuth2Server;

  constructor(options: OpenIdServerOptions) {
    this.options = options;
    this.server = new OAuth2Server(options);
  }

  get issuer(): string {
    return this.options.client.settings.issuer;
  }

  authorizationUrl(request: AuthorizationRequest): Promise<URL> {
    return this.server.authorizationUrl(this.options.client.settings, request);
  }

  async identify(callback: AuthorizationResponse, claims: readonly string[]): Promise<IdentityClaims> {
    const { client } = this.options;
    const { state, codeVerifier, nonce, redirectUri, parameters } = callback;
    const context = await this.context();
    const { metadata, authentication, http } = context;
    return withSafeErrors([client.secret, codeVerifier, state, parameters.get('code')], async () => {
      const response = await authorizationCodeGrantRequest(
        metadata,
        context.client,
        authentication,
        validateAuthResponse(metadata, context.client, parameters, state),
        redirectUri,
        codeVerifier,
        http,
      );
      const tokens = await processAuthorizationCodeResponse(metadata, context.client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await validateApplicationLevelSignature(metadata, response, http);
      const identity = getValidatedIdTokenClaims(tokens);
      if (identity === undefined) throw new OAuthRefusal('invalid_response', 'The response has no ID token.');
      if (claims.every((name) => identity[name] !== undefined)) return identity;
      const more = await this.userInfo(context, tokens.access_token, identity.sub);
      // Whether an address is verified is said where the address is.
      const { email_verified: verified, ...rest } = identity;
      const isOwnAddress = more['email'] === undefined && verified !== undefined;
      return { ...rest, ...(isOwnAddress ? { email_verified: verified } : {}), ...more };
    });
  }

  async signOutUrl(returnTo: string): Promise<URL | undefined> {
    const { metadata, client } = await this.context();
    if (metadata.end_session_endpoint === undefined) return undefined;
    // https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout
    const url = new URL(metadata.end_session_endpoint);
    url.searchParams.set('client_id', client.client_id);
    url.searchParams.set('post_logout_redirect_uri', returnTo);
    return url;
  }

  /** OpenID Connect Core, 5.4: with a code, servers may give the claims of a scope here only. */
  private async userInfo(
    { metadata, client, http }: ClientContext,
    accessToken: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (metadata.userinfo_endpoint === undefined) return {};
    const response = await userInfoRequest(metadata, client, accessToken, http);
    return processUserInfoResponse(metadata, client, subject, response);
  }

  private async context(): Promise<ClientContext> {
    const context = await clientContext(this.options, this.options.client);
    checkEndpoints(context.metadata, this.options.allowInsecure);
    return { ...context, client: { ...context.client, [clockTolerance]: CLOCK_TOLERANCE_SECONDS } };
  }
}

/** Checks the endpoints, since whoever controls the keys decides who signs in. @throws LLMInvalidRequestError */
function checkEndpoints(metadata: ServerMetadata, allowInsecure: HttpRule): void {
  for (const endpoint of ['jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'] as const)
    checkEndpoint(endpoint, metadata[endpoint], allowInsecure);
  if (metadata.jwks_uri === undefined)
    throw new LLMInvalidRequestError('The OpenID provider publishes no keys to verify ID tokens with (jwks_uri).', {
      path: 'OIDC_ISSUER',
    });
}
