/** Finds the endpoints of authorization servers, by discovery or from the settings, and checks them before use. */
import { LRUCache } from 'lru-cache';
import { allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import type { AuthorizationServer as ServerMetadata } from 'oauth4webapi';
import { isLLMError, LLMConnectionError, LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import type { Clock } from '../../domain/interfaces/Clock';
import type { DiscoveryMethod, OAuthSettings } from '../../domain/types/OAuthSettings';
import { createOAuthFetch } from './createOAuthFetch';
import { parseUrl } from '../../../ai/domain/util/parseUrl';

export interface ServerMetadataOptions {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  /** Permits plain http: for development and tests only. */
  readonly allowInsecure: HttpRule;
}

const LIFETIME_MS = 60 * 60_000;
const MAX_ENTRIES = 500;

export class ServerMetadataCache {
  private readonly options: ServerMetadataOptions;
  private readonly cached: LRUCache<string, Promise<ServerMetadata>>;

  constructor(options: ServerMetadataOptions) {
    this.options = options;
    const perf = { now: () => options.clock.elapsed() };
    this.cached = new LRUCache({ max: MAX_ENTRIES, ttl: LIFETIME_MS, ttlResolution: 0, perf });
  }

  /**
   * @throws LLMInvalidRequestError for metadata that breaks the protocol or has plain http endpoints,
   *   LLMConnectionError
   * and other transport errors
   */
  async get(settings: OAuthSettings): Promise<ServerMetadata> {
    const key = JSON.stringify(settings);
    const known = this.cached.get(key);
    if (known !== undefined) return known;
    const metadata = this.load(settings);
    this.cached.set(key, metadata);
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
      ...omitUndefined({
        authorization_endpoint: settings.authorizationEndpoint,
        token_endpoint: settings.tokenEndpoint,
        revocation_endpoint: settings.revocationEndpoint,
      }),
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
    const { fetch } = this.options;
    const url = new URL(issuer);
    // The guarded fetch decides which hosts are called over http.
    const options = { algorithm, [customFetch]: createOAuthFetch(fetch), [allowInsecureRequests]: true };
    try {
      const response = await discoveryRequest(url, options);
      if (response.status >= 500)
        throw new LLMConnectionError(`The metadata request to ${url.host} failed with status ${response.status}.`, {
          status: response.status,
        });
      return await processDiscoveryResponse(url, response);
    } catch (error) {
      if (isLLMError(error)) throw error;
      // The library's message quotes the response, so it is left out.
      throw new LLMInvalidRequestError(
        `${url.host} does not publish valid metadata for the issuer "${issuer}". Check the issuer's URL.`,
        { path: 'auth.oauth.issuer' },
      );
    }
  }
}

/**
 * Discovered endpoints receive browsers and secrets, so they are checked as strictly as entered ones.
 * @throws LLMInvalidRequestError
 */
export function checkEndpoint(name: string, endpoint: string | undefined, allowInsecure: HttpRule): void {
  if (endpoint === undefined) return;
  const url = parseUrl(endpoint);
  const isWeb = url?.protocol === 'https:' || (url?.protocol === 'http:' && allowInsecure(url));
  if (!isWeb || url.username !== '' || url.password !== '')
    throw new LLMInvalidRequestError(`The authorization server's ${name} must be an https URL without credentials.`, {
      path: 'auth.oauth',
    });
}
