/** Decorates a provider so that requests with `cache` are answered from stored responses where there are any. */
import { randomBytes } from 'node:crypto';
import { consoleLogger } from '../../../../../../log/consoleLogger';
import { ProviderDecorator } from '../../../../domain/interfaces/ProviderDecorator';
import type { ILLMProvider } from '../../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../../domain/interfaces/Logger';
import type { ResponseCache } from '../../../../domain/interfaces/ResponseCache';
import type { CacheOptions, GenerateOptions } from '../../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import { cacheOptions } from '../../normalizer/normalizeOptions';
import { PlainReader } from '../../normalizer/PlainReader';
import { unansweredError } from '../../../../domain/errors/assertAnswered';
import { replayResponse } from '../../shared/replayResponse';
import { cacheKey } from './cacheKey';
import type { CacheKeyContext } from './cacheKey';

export interface CachedProviderPorts {
  readonly cache: ResponseCache;
  readonly routeOf: (model: string | undefined) => CacheKeyContext['route'];
  /** Responses that were stored with another version are not used. Default: ''. */
  readonly version?: string | undefined;
  /** Receives failures of the cache, which cost no calls. Default: the console. */
  readonly logger?: Logger | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

interface CompletePorts extends CachedProviderPorts {
  readonly version: string;
  readonly logger: Logger;
  readonly now: () => number;
}

export class CachedProvider extends ProviderDecorator {
  private readonly ports: CompletePorts;

  constructor(provider: ILLMProvider, ports: CachedProviderPorts) {
    super(provider);
    const { version = '', logger = consoleLogger, now = Date.now } = ports;
    this.ports = { ...ports, version, logger, now };
  }

  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return options.cache === undefined
      ? this.provider.generate(userId, options)
      : this.cached(userId, options, options.cache);
  }

  private async cached(userId: string, options: GenerateOptions, cache: CacheOptions): Promise<LLMResponse> {
    const call = new CachedCall(userId, options, cache, this.ports);
    const found = await call.find();
    if (found !== undefined) return found;
    const response = await this.provider.generate(userId, call.options);
    await call.save(response);
    return response;
  }

  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent> {
    return options.cache === undefined
      ? this.provider.stream(userId, options)
      : this.cachedStream(userId, options, options.cache);
  }

  private async *cachedStream(
    userId: string,
    options: GenerateOptions,
    cache: CacheOptions,
  ): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const call = new CachedCall(userId, options, cache, this.ports);
    const found = await call.find();
    if (found !== undefined) {
      yield* replayResponse(found);
      return;
    }
    for await (const event of this.provider.stream(userId, call.options)) {
      if (event.type === 'response.completed') await call.save(event.response);
      yield event;
    }
  }
}

class CachedCall {
  /** The caller's, without the cache. */
  readonly options: GenerateOptions;
  private readonly userId: string;
  private readonly given: GenerateOptions;
  private readonly cache: CacheOptions;
  private readonly ports: CompletePorts;
  private readonly route: CacheKeyContext['route'];
  private readonly key: string | undefined;

  /** @throws LLMInvalidRequestError for invalid input or an invalid `cache` */
  constructor(userId: string, given: GenerateOptions, cache: CacheOptions, ports: CompletePorts) {
    // The stored response needs all text.
    const { cache: _, onCache: __, relayTo, ...options } = given;
    this.options = options;
    this.userId = userId;
    this.given = given;
    // Checked here, since other options are checked behind the cache.
    this.cache = cacheOptions(new PlainReader().read(cache, 'cache'), 'cache');
    this.ports = ports;
    this.route = ports.routeOf(given.model);
    this.key = cacheKey(given, { route: this.route, version: ports.version });
  }

  /** Reports to the caller what was found. */
  async find(): Promise<LLMResponse | undefined> {
    const { key, given, userId, ports } = this;
    given.signal?.throwIfAborted();
    if (key === undefined) {
      given.onCache?.({ result: 'bypass' });
      return undefined;
    }
    const cached = this.cache.refresh === true ? undefined : await this.attempt(() => ports.cache.find(userId, key));
    const age = cached === undefined ? Infinity : Math.max(0, ports.now() - cached.storedAt);
    if (cached === undefined || age >= this.cache.ttl) {
      given.onCache?.({ result: 'miss' });
      return undefined;
    }
    const response = servedAgain(cached.response, ports.now());
    given.onCache?.({ result: 'hit', age });
    const { wire, warnings, losses } = response.vendor;
    given.onHead?.({ wire, headers: {}, warnings, losses });
    return response;
  }

  async save(response: LLMResponse): Promise<void> {
    const { key, userId, ports } = this;
    if (key === undefined || !this.isStorable(response)) return;
    const storedAt = ports.now();
    await this.attempt(() =>
      ports.cache.save(userId, key, { storedAt, expiresAt: storedAt + this.cache.ttl, response }),
    );
  }

  /** A fallback's response would hide that the requested model is back. */
  private isStorable(response: LLMResponse): boolean {
    return (
      response.status === 'completed' &&
      response.output.length > 0 &&
      unansweredError(response) === undefined &&
      response.vendor.attempts?.some(({ fallback }) => fallback !== undefined) !== true
    );
  }

  private async attempt<T>(use: () => Promise<T>): Promise<T | undefined> {
    try {
      return await use();
    } catch (error) {
      this.ports.logger.warn('The response cache failed. The request was handled without it.', error);
      return undefined;
    }
  }
}

/** The stored response as a response of its own, which has cost nothing. */
function servedAgain(response: LLMResponse, now: number): LLMResponse {
  const { unpriced, attempts, request_id, ...vendor } = response.vendor;
  return {
    ...response,
    id: `${/^[a-z]+[-_]/i.exec(response.id)?.[0] ?? 'resp_'}${randomBytes(16).toString('hex')}`,
    created_at: Math.floor(now / 1_000),
    vendor: { ...vendor, cost: 0, cached: true },
  };
}
