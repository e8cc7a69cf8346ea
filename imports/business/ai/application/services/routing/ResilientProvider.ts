/** Routes requests to one or more providers, with retries, circuit breakers, fallbacks and usage accounting. */
import { NO_USAGE } from '../../../domain/entities/Response';
import { programLogger } from '../../../../../log/programLogger';
import { EventStream } from '../../../domain/events/EventStream';
import { FairLruMap } from '../../../domain/util/FairLruMap';
import type { EventStage } from '../../../domain/events/EventStream';
import {
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  LLMStreamError,
  isLLMError,
} from '../../../domain/errors/LLMErrors';
import { noEmbeddings, noRelay } from '../../../domain/errors/noEmbeddings';
import type { AccessCheck, ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { UsageEntry, UsedTokens } from '../../../domain/types/UsageRecords';
import { failedAttempt, withAttempts } from './attemptReports';
import { PartialUsage } from './estimateUsage';
import { FallbackCalls } from './FallbackCalls';
import type { Served } from './FallbackCalls';
import { primeStream, primeStreamWithin } from './primeStream';
import type { CircuitPermit } from './CircuitBreaker';
import { meteredRelay } from './meteredRelay';
import { ProviderTarget } from './ProviderTarget';
import type { Attempt, RetryPorts, TargetHealth } from './ProviderTarget';
import { ProviderRouter } from './ProviderRouter';
import type { ProviderSet } from './ProviderRouter';
import { retrySettings } from './RetryPolicy';
import type { RetrySettings } from './RetryPolicy';
import { RouteStats } from './RouteStats';
import { UsageLedger } from './UsageLedger';
import { sleep } from '../shared/time';
import { watching } from '../../../domain/util/watching';

export interface ResilientProviderOptions extends ProviderSet, Partial<RetryPorts> {
  readonly retry?: Partial<RetrySettings>;
  readonly limits?: Partial<ResilientLimits>;
  /** Called with every usage as it is counted. */
  readonly onUsage?: (used: UsedTokens) => void;
  /** Receives what calls show about the targets of routing rules. Default: a new one. */
  readonly routeStats?: RouteStats;
  /** Receives retries at the level debug, fallbacks and open circuits as warnings. Default: the console. */
  readonly logger?: Logger;
}

export interface ResilientLimits {
  /** Pairs of provider and user whose usage is tracked separately. */
  readonly trackedUsers: number;
  /** Responses whose provider is stored, so that they can be deleted there. */
  readonly trackedResponses: number;
}

export const DEFAULT_RESILIENT_LIMITS: ResilientLimits = { trackedUsers: 10_000, trackedResponses: 10_000 };

interface OpenStream {
  readonly events: EventStream;
  readonly permit: CircuitPermit;
}

/**
 * Each provider gets at most `retry.maxAttempts` attempts per request. An attempt is retried only for a retryable
 * error, and never once it has emitted output or its vendor has run a tool. When the failure lies with the provider
 * (down, slow, overloaded, throttled, out of quota, or rejecting its credential), the fallbacks are tried in turn,
 * under the same policy. When it lies with the request (invalid, too long, unknown model, or a
 * `previous_response_id` that only one provider knows), no fallback is tried. If all providers fail, the first
 * one's error is thrown.
 */
export class ResilientProvider implements ILLMProvider {
  readonly retriesFailedCalls = true;
  private readonly router: ProviderRouter;
  private readonly ports: RetryPorts;
  private readonly ledger: UsageLedger;
  private readonly calls: FallbackCalls;
  private readonly responseOwners: FairLruMap<ProviderTarget>;
  private readonly onUsage: ResilientProviderOptions['onUsage'];
  private readonly logger: Logger;

  /** @throws LLMInvalidRequestError for a set of providers that cannot be routed to, and for invalid retry settings */
  constructor(options: ResilientProviderOptions) {
    const settings = retrySettings(options.retry);
    const limits = { ...DEFAULT_RESILIENT_LIMITS, ...options.limits };
    this.ports = {
      clock: options.clock ?? (() => performance.now()),
      random: options.random ?? Math.random,
      sleep: options.sleep ?? sleep,
    };
    const logger = (this.logger = programLogger(options.logger));
    this.router = new ProviderRouter(
      options,
      (id, provider) => new ProviderTarget(id, provider, settings, this.ports, logger),
    );
    this.ledger = new UsageLedger(limits.trackedUsers);
    this.responseOwners = new FairLruMap({ entries: limits.trackedResponses });
    this.calls = new FallbackCalls({
      router: this.router,
      clock: this.ports.clock,
      routeStats: options.routeStats ?? new RouteStats(this.ports.clock),
      logger,
      ownerOf: (userId, responseId) => this.responseOwners.get(userId, responseId),
      onFailure: (target, userId, error) => this.accountFailure(target, userId, error),
    });
    this.onUsage = options.onUsage && watching('onUsage', options.onUsage, logger);
  }

  /** The default provider's name. */
  getProviderName(): string {
    return this.router.defaultTarget.provider.getProviderName();
  }

  /**
   * @returns a completed or incomplete response
   * @throws LLMError for failed responses, LLMModelNotFoundError with the candidates, `options.signal.reason` when
   *   aborted
   */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const attempt: Attempt<LLMResponse> = async (provider, request, permit) => {
      // A batch takes hours, and says nothing about the provider's present state.
      if (request.batch !== undefined) permit.released();
      const response = await provider.generate(userId, request);
      permit.succeeded();
      return response;
    };
    const served = await this.calls.send(userId, options, attempt, 'complete');
    return this.account(served, userId, served.value, options.batch?.isCounted);
  }

  /**
   * Ends with `response.completed` or throws what `generate` throws. After the first substantial event there is no
   * retry.
   */
  stream(userId: string, options: GenerateOptions): EventStream {
    return EventStream.opening(async () => {
      const served = await this.calls.send(userId, options, openStream(userId, options), 'stream');
      return served.value.events.through(this.servedEvents(served, userId, options));
    });
  }

  /**
   * Never falls back: another model's vectors cannot be compared with the requested one's.
   * @throws what `generate` throws
   */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    const startedAt = this.ports.clock();
    const { target, model } = await this.router.resolveFresh(options.model);
    const { model: _, ...rest } = options;
    const request: EmbedOptions = model === undefined ? rest : { ...rest, model };
    const limits = {
      deadline: startedAt + (options.timeout ?? Infinity),
      retryUntil: startedAt + (options.maxRetryTime ?? Infinity),
      hasOwnTimeout: options.timeout !== undefined,
    };
    const failures: FailedAttempt[] = [];
    const attempt: Attempt<Embeddings, EmbedOptions> = async (provider, attempted, permit) => {
      if (provider.embed === undefined) throw noEmbeddings(provider);
      const made = await provider.embed(userId, attempted);
      permit.succeeded();
      return made;
    };
    const made = await target.call(userId, request, limits, attempt, {
      retrying: (failure, delay) =>
        this.calls.reportFailure({ options, failures }, failedAttempt(target, failure, Math.round(delay))),
    });
    this.record(target, userId, made.usage);
    return failures.length === 0 ? made : { ...made, vendor: { ...made.vendor, attempts: failures } };
  }

  /** In one attempt, since a body may be readable once only. */
  async relay(
    userId: string,
    { origin: _, onRetry: __, onAnnotation: ___, model: named, ...request }: RelayCall,
  ): Promise<RelayResponse> {
    const { target, model } = await this.router.resolveFresh(named);
    if (target.provider.relay === undefined) throw noRelay(target.provider);
    const relayed = await target.provider.relay(userId, model === undefined ? request : { ...request, model });
    return meteredRelay(relayed, {
      completed: (usage) => this.record(target, userId, usage ?? NO_USAGE),
      failed: () => undefined,
    });
  }

  /**
   * Whether the user's credential works, by the vendor's cheapest call.
   * @param providerId default: the default provider
   * @throws LLMInvalidRequestError for an unknown provider
   */
  async validateAccess(userId: string, providerId?: string): Promise<AccessCheck> {
    if (providerId !== undefined && this.router.get(providerId) === undefined) await this.router.refresh();
    const target = providerId === undefined ? this.router.defaultTarget : this.router.get(providerId);
    if (target === undefined)
      throw new LLMInvalidRequestError(`There is no provider "${providerId ?? ''}".`, { path: 'providerId' });
    return target.validateAccess(userId);
  }

  /** Finds a provider that was created in another process a moment ago. @throws LLMModelNotFoundError */
  async refreshFor(model: string): Promise<void> {
    await this.router.resolveFresh(model);
  }

  getCapabilities(model: string): ModelCapabilities {
    const route = this.router.resolve(model);
    return route.target.provider.getCapabilities(route.model ?? '');
  }

  /** Deletes a response at the provider that created it or, if that is no longer tracked, at the default provider. */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const target = this.responseOwners.get(userId, responseId) ?? this.router.defaultTarget;
    await target.provider.deleteResponse?.(userId, responseId);
    this.responseOwners.delete(userId, responseId);
  }

  /** A model name that stands for the default model of the default provider. */
  get defaultModel(): string {
    return this.router.defaultTarget.id;
  }

  /** What the calls of this process have shown about each provider. */
  health(): ReadonlyMap<string, TargetHealth> {
    return new Map(this.router.all().map(({ id, health }) => [id, health]));
  }

  /** Where a call with that model goes first. Undefined for a model that names no provider. */
  routeOf(model: string | undefined): { readonly providerId: string; readonly model: string | undefined } | undefined {
    try {
      const { target, model: name } = this.router.resolve(model);
      return { providerId: target.id, model: name };
    } catch (error) {
      if (error instanceof LLMModelNotFoundError) return undefined;
      throw error;
    }
  }

  /** Token counts by provider and user since this object was created. */
  usage(): readonly UsageEntry[] {
    return this.ledger.entries();
  }

  private servedEvents(served: Served<OpenStream>, userId: string, options: GenerateOptions): EventStage {
    const { target } = served;
    const { permit } = served.value;
    const partialUsage = new PartialUsage();
    let isCompleted = false;
    let isCounted = false;
    return {
      push: (event, out) => {
        if (event.type === 'response.failed') throw event.error;
        partialUsage.add(event);
        if (event.type !== 'response.completed') out.push(event);
        else {
          isCompleted = true;
          permit.succeeded();
          isCounted = true;
          out.push({ ...event, response: this.account(served, userId, event.response) });
        }
      },
      end: () => {
        if (isCompleted) return;
        throw new LLMStreamError('The stream ended before its response was complete.', { retryable: false });
      },
      fail: (thrown) => {
        const failure = target.onStreamFailure(thrown, permit, options, userId);
        this.accountFailure(target, userId, failure);
        isCounted ||= isLLMError(failure) && failure.response !== undefined;
        return failure;
      },
      close: () => {
        permit.released();
        // A consumer that leaves early has still received, and caused, the output so far.
        if (!isCounted) this.record(target, userId, partialUsage.estimate(options));
      },
    };
  }

  /** Counts a response, and completes it with what preceded it. */
  private account<T>(served: Served<T>, userId: string, given: LLMResponse, isCounted = false): LLMResponse {
    const { target } = served;
    const response = withAttempts(given, served);
    if (!isCounted) this.record(target, userId, response.usage);
    this.responseOwners.set(userId, response.id, target);
    this.logger.debug(`The provider "${target.id}" completed a response.`, {
      userId,
      model: response.model,
      finishReason: response.vendor.finish_reason,
      inputTokens: response.usage.input_tokens,
      outputTokens: response.usage.output_tokens,
      milliseconds: Math.round(this.ports.clock() - served.startedAt),
    });
    return response;
  }

  private accountFailure(target: ProviderTarget, userId: string, error: unknown): void {
    if (isLLMError(error) && error.response !== undefined) this.record(target, userId, error.response.usage);
  }

  private record({ id: providerId }: ProviderTarget, userId: string, usage: Usage): void {
    this.ledger.record(providerId, userId, usage);
    this.onUsage?.({ providerId, userId, usage });
  }
}

/** Sends the request, and reads its stream up to the first substantial event. */
function openStream(userId: string, { route }: GenerateOptions): Attempt<OpenStream> {
  const firstTokenTimeout = route?.firstTokenTimeout;
  return async (provider, request, permit) => {
    const events = await (firstTokenTimeout === undefined
      ? primeStream(provider.stream(userId, request))
      : primeStreamWithin(firstTokenTimeout, request.signal, (signal) =>
          provider.stream(userId, { ...request, signal }),
        ));
    permit.responding();
    return { events, permit };
  };
}
