/** Verifies access tokens that an authorization server has issued for this server, as signed JWTs (RFC 9068). */
import {
  allowInsecureRequests,
  clockTolerance,
  customFetch,
  OperationProcessingError,
  UnsupportedOperationError,
  validateJwtAccessToken,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import type { JWTAccessTokenClaims } from 'oauth4webapi';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import { createOAuthFetch } from './createOAuthFetch';
import { checkEndpoint } from './ServerMetadataCache';
import type { ServerMetadataCache } from './ServerMetadataCache';

export interface JwtAccessTokensOptions {
  readonly issuer: string;
  /** What tokens must be issued for: one for another server is refused, so that nobody can pass it on to this one. */
  readonly audience: string;
  readonly fetch: GuardedFetch;
  readonly metadata: ServerMetadataCache;
  readonly allowInsecure: HttpRule;
}

export interface AccessTokenGrant {
  /** The issuer's id of whom the client acts for. */
  readonly subject: string;
  readonly scopes: readonly string[];
}

/** How far the server's clock may differ from ours. */
const CLOCK_TOLERANCE_SECONDS = 30;

export class JwtAccessTokens {
  private readonly options: JwtAccessTokensOptions;

  constructor(options: JwtAccessTokensOptions) {
    this.options = options;
  }

  get issuer(): string {
    return this.options.issuer;
  }

  /**
   * @returns undefined for a token that is not valid here
   * @throws LLMInvalidRequestError for invalid metadata of the server; LLMConnectionError if it cannot be reached
   */
  async verify(token: string): Promise<AccessTokenGrant | undefined> {
    const { issuer, audience, fetch, metadata, allowInsecure } = this.options;
    const server = await metadata.get({
      ...{ protocol: 'oauth2', issuer, discovery: 'auto', clientId: '', scopes: [] },
    });
    checkEndpoint('jwks_uri', server.jwks_uri, allowInsecure);
    const request = new Request(audience, { headers: { authorization: `Bearer ${token}` } });
    const options = {
      [clockTolerance]: CLOCK_TOLERANCE_SECONDS,
      [customFetch]: createOAuthFetch(fetch),
      // The guarded fetch decides which hosts are called over http.
      [allowInsecureRequests]: true,
    };
    try {
      return grantOf(await validateJwtAccessToken(server, request, audience, options));
    } catch (error) {
      if (REFUSALS.some((refusal) => error instanceof refusal)) return undefined;
      throw error;
    }
  }
}

const REFUSALS = [OperationProcessingError, UnsupportedOperationError, WWWAuthenticateChallengeError] as const;

function grantOf({ sub, scope = '' }: JWTAccessTokenClaims): AccessTokenGrant {
  return { subject: sub, scopes: scope.split(' ').filter((each) => each !== '') };
}
