/**
 * OpenRouter's way to connect an account: OAuth's authorization code with PKCE, except that there is no client to
 * register, no `state`, and that the code is exchanged for an API key which never expires.
 * https://openrouter.ai/docs/guides/overview/auth/oauth
 */
import { calculatePKCECodeChallenge } from 'oauth4webapi';
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
import { OAUTH_TIMEOUT_MS } from './createOAuthFetch';

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
    // The state is part of the path: however the code is put onto the address, it stays whole.
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
    if (code === null || code === '') throw new OAuthRefusal('invalid_response', 'the answer has no code');
    const response = await this.fetch(endpoint(settings.tokenEndpoint), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ code, code_verifier: codeVerifier, code_challenge_method: 'S256' }),
      call: { timeout: OAUTH_TIMEOUT_MS, maxResponseBytes: MAX_BODY_BYTES },
    });
    return { kind: 'api_key', accessToken: await keyOf(response) };
  }

  refresh(): Promise<TokenSet> {
    return Promise.reject(new OAuthRefusal('unsupported_grant_type', 'keys of this kind are not refreshed'));
  }

  clientCredentials(): Promise<TokenSet> {
    return Promise.reject(new OAuthRefusal('unsupported_grant_type', 'the server knows no apps'));
  }

  /** Keys are withdrawn by their owner, on the vendor's site. */
  revoke(): Promise<void> {
    return Promise.resolve();
  }
}

function endpoint(url: string | undefined): URL {
  if (url === undefined)
    throw new LLMInvalidRequestError('the provider names no endpoint for this', { path: 'auth.oauth' });
  return new URL(url);
}

/** 400 and 403 say that code, verifier or method are not accepted. */
async function keyOf(response: GuardedResponse): Promise<string> {
  const { status } = response;
  const text = await response.text();
  if (status === 429) throw new LLMRateLimitError('the authorization server is asked too often', { status });
  if (status >= 500)
    throw new LLMConnectionError(`the authorization server can't answer now (status ${status})`, { status });
  if (status !== 200) throw new OAuthRefusal('invalid_grant', `the server answered with status ${status}`);
  const key = keyField(text);
  if (key === undefined) throw new OAuthRefusal('invalid_response', 'the answer has no key');
  return key;
}

function keyField(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'key' in body && typeof body.key === 'string' && body.key !== ''
      ? body.key
      : undefined;
  } catch {
    return undefined;
  }
}
