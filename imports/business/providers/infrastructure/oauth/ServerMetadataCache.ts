/**
 * Endpoints of authorization servers: from their own metadata or from the row, checked before anything is sent to
 * them.
 */
import { allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi';
import type { AuthorizationServer as ServerMetadata } from 'oauth4webapi';
import { isLLMError, LLMConnectionError, LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import type { Clock } from '../../domain/interfaces/Clock';
import type { DiscoveryMethod, OAuthSettings } from '../../domain/types/OAuthSettings';
import { createOAuthFetch } from './createOAuthFetch';

export interface ServerMetadataOptions {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  /** Permits plain http: for development and tests only. */
  readonly allowInsecure: boolean;
}

/** How long metadata is believed, in milliseconds. */
const LIFETIME_MS = 60 * 60_000;
/** Rows are few; whoever makes more is not served from memory. */
const MAX_CACHED = 500;

interface Cached {
  readonly metadata: Promise<ServerMetadata>;
  readonly at: number;
}

export class ServerMetadataCache {
  private readonly options: ServerMetadataOptions;
  private readonly cached = new Map<string, Cached>();

  constructor(options: ServerMetadataOptions) {
    this.options = options;
  }

  /**
   * @throws LLMInvalidRequestError for metadata that breaks the protocol or asks for plain http, LLMConnectionError
   * and other transport errors
   */
  async get(settings: OAuthSettings): Promise<ServerMetadata> {
    const key = JSON.stringify(settings);
    const { clock } = this.options;
    const known = this.cached.get(key);
    if (known !== undefined && clock.elapsed() - known.at < LIFETIME_MS) return known.metadata;
    const metadata = this.load(settings);
    if (this.cached.size >= MAX_CACHED) this.cached.clear();
    this.cached.set(key, { metadata, at: clock.elapsed() });
    try {
      return await metadata;
    } catch (error) {
      this.cached.delete(key);
      throw error;
    }
  }

  private async load(settings: OAuthSettings): Promise<ServerMetadata> {
    const { allowInsecure } = this.options;
    const discovered =
      settings.discovery === 'none'
        ? { issuer: settings.issuer }
        : await this.discover(settings.issuer, settings.discovery);
    const metadata: ServerMetadata = {
      ...discovered,
      ...(settings.authorizationEndpoint === undefined
        ? {}
        : { authorization_endpoint: settings.authorizationEndpoint }),
      ...(settings.tokenEndpoint === undefined ? {} : { token_endpoint: settings.tokenEndpoint }),
      ...(settings.revocationEndpoint === undefined ? {} : { revocation_endpoint: settings.revocationEndpoint }),
    };
    for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const)
      checkEndpoint(endpoint, metadata[endpoint], allowInsecure);
    return metadata;
  }

  private async discover(issuer: string, method: Exclude<DiscoveryMethod, 'none'>): Promise<ServerMetadata> {
    if (method !== 'auto') return this.request(issuer, method);
    try {
      return await this.request(issuer, 'oauth2');
    } catch (error) {
      if (!isLLMError(error) || error.code !== 'invalid-request') throw error;
      return this.request(issuer, 'oidc');
    }
  }

  private async request(issuer: string, algorithm: 'oidc' | 'oauth2'): Promise<ServerMetadata> {
    const { fetch, allowInsecure } = this.options;
    const url = new URL(issuer);
    const options = { algorithm, [customFetch]: createOAuthFetch(fetch), [allowInsecureRequests]: allowInsecure };
    try {
      const response = await discoveryRequest(url, options);
      if (response.status >= 500)
        throw new LLMConnectionError(`${url.host} answers its metadata with status ${response.status}`, {
          status: response.status,
        });
      return await processDiscoveryResponse(url, response);
    } catch (error) {
      if (isLLMError(error)) throw error;
      // What the library quotes of the answer is left out.
      throw new LLMInvalidRequestError(
        `${url.host} does not publish metadata of an authorization server that calls itself ${issuer}`,
        { path: 'auth.oauth.issuer' },
      );
    }
  }
}

/**
 * The browser is led to one of them and secrets to the others, so they are judged as strictly as what a user types
 * in.
 */
function checkEndpoint(name: string, endpoint: string | undefined, allowInsecure: boolean): void {
  if (endpoint === undefined) return;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isWeb = url?.protocol === 'https:' || (allowInsecure && url?.protocol === 'http:');
  if (!isWeb || url.username !== '' || url.password !== '')
    throw new LLMInvalidRequestError(`the authorization server's ${name} is not an https URL`, { path: 'auth.oauth' });
}
