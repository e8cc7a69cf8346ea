/**
 * OpenRouter's flow for connecting an account: OAuth's authorization code with PKCE, but without client registration
 * and `state`, and the code is exchanged for an API key that does not expire.
 * https://openrouter.ai/docs/guides/overview/auth/oauth
 */
import { calculatePKCECodeChallenge } from 'oauth4webapi';
import { fieldsOf, readJson } from '../../../ai/domain/util/json';
import { LLMConnectionError, LLMInvalidRequestError, LLMRateLimitError } from '../../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../../ai/domain/errors/safeText';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import type { GuardedResponse } from '../../../ai/infrastructure/clients/http/GuardedResponse';
import { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';
import type {
  AuthorizationResponse,
  AuthorizationRequest,
  AuthorizationServer,
  OAuthClient,
} from '../../domain/interfaces/AuthorizationServer';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import type { TokenSet } from '../../domain/types/TokenSet';
import { OAUTH_TIMEOUT_MS, OWN_CONNECTION } from './createOAuthFetch';

const MAX_BODY_BYTES = 64 * 1024;

export class KeyExchangeServer implements AuthorizationServer {
  private readonly fetch: GuardedFetch;

  constructor(fetch: GuardedFetch) {
    this.fetch = fetch;
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  async authorizationUrl(
    settings: OAuthSettings,
    { state, codeVerifier, redirectUri }: AuthorizationRequest,
  ): Promise<URL> {
    const url = endpoint(settings.authorizationEndpoint);
    for (const [name, value] of Object.entries(settings.authorizationParameters ?? {}))
      url.searchParams.set(name, value);
    // The state is part of the path, so it survives however the server appends the code to the URL.
    url.searchParams.set('callback_url', `${redirectUri}/${state}`);
    url.searchParams.set('code_challenge', await calculatePKCECodeChallenge(codeVerifier));
    url.searchParams.set('code_challenge_method', 'S256');
    return url;
  }

  async exchange({ settings }: OAuthClient, { parameters, codeVerifier }: AuthorizationResponse): Promise<TokenSet> {
    const error = parameters.get('error');
    if (error !== null)
      throw new OAuthRefusal(
        safeMessage(error).slice(0, 100),
        safeMessage(parameters.get('error_description') ?? '') || undefined,
      );
    const code = parameters.get('code');
    if (code === null || code === '') throw new OAuthRefusal('invalid_response', 'The response has no code.');
    const response = await this.fetch(endpoint(settings.tokenEndpoint), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...OWN_CONNECTION },
      body: JSON.stringify({ code, code_verifier: codeVerifier, code_challenge_method: 'S256' }),
      call: { timeout: OAUTH_TIMEOUT_MS, maxResponseBytes: MAX_BODY_BYTES },
    });
    return { kind: 'api_key', accessToken: await keyOf(response) };
  }

  refresh(): Promise<TokenSet> {
    return Promise.reject(new OAuthRefusal('unsupported_grant_type', 'API keys cannot be refreshed.'));
  }

  clientCredentials(): Promise<TokenSet> {
    return Promise.reject(
      new OAuthRefusal('unsupported_grant_type', 'The server does not support client credentials.'),
    );
  }

  /** Users revoke their keys on the vendor's site. */
  revoke(): Promise<void> {
    return Promise.resolve();
  }
}

function endpoint(url: string | undefined): URL {
  if (url === undefined)
    throw new LLMInvalidRequestError("The provider's OAuth settings lack an endpoint.", { path: 'auth.oauth' });
  return new URL(url);
}

/** The server responds with 400 or 403 if it rejects the code, verifier or challenge method. */
async function keyOf(response: GuardedResponse): Promise<string> {
  const { status } = response;
  const text = await response.text();
  if (status === 429) throw new LLMRateLimitError('The authorization server received too many requests.', { status });
  if (status >= 500)
    throw new LLMConnectionError(`The authorization server is unavailable (status ${status}).`, { status });
  if (status !== 200) throw new OAuthRefusal('invalid_grant', `The server responded with status ${status}.`);
  const key = keyField(text);
  if (key === undefined) throw new OAuthRefusal('invalid_response', 'The response has no key.');
  return key;
}

function keyField(text: string): string | undefined {
  const { key } = fieldsOf(readJson(text));
  return typeof key === 'string' && key !== '' ? key : undefined;
}
