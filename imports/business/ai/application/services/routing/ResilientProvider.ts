/** Routes requests to one or more providers, with retries, circuit breakers, fallbacks and usage accounting. */
import { NO_USAGE } from '../../../domain/entities/Response';
import { consoleLogger } from '../../../domain/consoleLogger';
import { LLMInvalidRequestError, LLMModelNotFoundError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { noEmbeddings, noRelay } from '../../../domain/errors/noEmbeddings';
import { unknownModel } from '../../../domain/errors/unknownModel';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { GenerateOptions, SelectedRoute } from '../../../domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { UsageEntry, UsedTokens } from '../../../domain/types/UsageRecords';
import { LruMap } from '../shared/LruMap';
import { describeFailure, failedAttempt, logFields, withAttempts } from './attemptReports';
import { PartialUsage } from './estimateUsage';
import { eventsOf, primeStream, primeStreamWithin } from './primeStream';
import type { PrimedStream } from './primeStream';
import type { CircuitPermit } from './CircuitBreaker';
import { meteredRelay } from './meteredRelay';
import { ProviderTarget } from './ProviderTarget';
import type { Attempt, CallLimits, RetryPorts, TargetHealth } from './ProviderTarget';
import { ProviderRouter } from './ProviderRouter';
import type { ProviderSet, Route } from './ProviderRouter';
import { anotherModelMayServe, canFallBack, retrySettings } from './RetryPolicy';
import type { RetrySettings } from './RetryPolicy';
import { addressOf, continuesAtProvider, forRoute, limitsOf } from './routeOptions';
import { RouteStats } from './RouteStats';
import type { ResponseKind } from './RouteStats';
import { UsageLedger } from './UsageLedger';
import { sleep } from '../shared/time';

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

interface Served<T> {
  readonly target: ProviderTarget;
  readonly value: T;
  /** Why a fallback served the request. */
  readonly warnings: readonly string[];
  readonly attempts: readonly FailedAttempt[];
  /** On the ports' clock. */
  readonly startedAt: number;
}

interface OpenStream {
  readonly events: PrimedStream;
  readonly permit: CircuitPermit;
}

interface Call<T> extends CallLimits {
  readonly userId: string;
  readonly options: GenerateOptions;
  readonly attempt: Attempt<T>;
  readonly startedAt: number;
  /** The failures so far, oldest first. */
  readonly failures: FailedAttempt[];
  readonly kind: ResponseKind;
  /** Where the request goes first. */
  readonly first: Route;
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
  private readonly routeStats: RouteStats;
  private readonly responseOwners: LruMap<string, ProviderTarget>;
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
    const logger = (this.logger = options.logger ?? consoleLogger);
    this.router = new ProviderRouter(
      options,
      (id, provider) => new ProviderTarget(id, provider, settings, this.ports, logger),
    );
    this.ledger = new UsageLedger(limits.trackedUsers);
    this.routeStats = options.routeStats ?? new RouteStats(this.ports.clock);
    this.responseOwners = new LruMap(limits.trackedResponses);
    this.onUsage = options.onUsage;
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
      const response = await provider.generate(userId, request);
      permit.succeeded();
      return response;
    };
    const served = await this.callWithFallback(userId, options, attempt, 'complete');
    return this.account(served, userId, served.value);
  }

  /**
   * Ends with `response.completed` or throws what `generate` throws. After the first substantial event there is no
   * retry.
   */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const firstTokenTimeout = options.route?.firstTokenTimeout;
    const attempt: Attempt<OpenStream> = async (provider, request, permit) => {
      const events = await (firstTokenTimeout === undefined
        ? primeStream(provider.stream(userId, request))
        : primeStreamWithin(firstTokenTimeout, request.signal, (signal) =>
            provider.stream(userId, { ...request, signal }),
          ));
      permit.responding();
      return { events, permit };
    };
    const served = await this.callWithFallback(userId, options, attempt, 'stream');
    const { target, value } = served;
    const partialUsage = new PartialUsage();
    let isCounted = false;
    try {
      for await (const event of eventsOf(value.events)) {
        partialUsage.add(event);
        if (event.type !== 'response.completed') yield event;
        else {
          value.permit.succeeded();
          isCounted = true;
          yield { ...event, response: this.account(served, userId, event.response) };
        }
      }
    } catch (thrown) {
      const failure = target.onStreamFailure(thrown, value.permit, options, userId);
      this.accountFailure(target, userId, failure);
      isCounted ||= isLLMError(failure) && failure.response !== undefined;
      throw failure;
    } finally {
      value.permit.released();
      // A consumer that leaves early has still received, and caused, the output so far.
      if (!isCounted) this.record(target, userId, partialUsage.estimate(options.input));
    }
  }

  /**
   * Never falls back: another model's vectors cannot be compared with the requested one's.
   * @throws what `generate` throws
   */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    const startedAt = this.ports.clock();
    const { target, model } = await this.routeTo(options.model);
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
    const made = await target.call(userId, request, limits, attempt, (failure, delay) =>
      this.reportFailure({ options, failures }, failedAttempt(target, failure, Math.round(delay))),
    );
    this.record(target, userId, made.usage);
    return failures.length === 0 ? made : { ...made, vendor: { ...made.vendor, attempts: failures } };
  }

  /** In one attempt, since a body may be readable once only. */
  async relay(userId: string, { origin: _, onRetry: __, model: named, ...request }: RelayCall): Promise<RelayResponse> {
    const { target, model } = await this.routeTo(named);
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
  async validateAccess(userId: string, providerId?: string): Promise<boolean> {
    if (providerId !== undefined && this.router.get(providerId) === undefined) await this.router.refresh();
    const target = providerId === undefined ? this.router.defaultTarget : this.router.get(providerId);
    if (target === undefined)
      throw new LLMInvalidRequestError(`There is no provider "${providerId ?? ''}".`, { path: 'providerId' });
    return target.validateAccess(userId);
  }

  getCapabilities(model: string): ModelCapabilities {
    const route = this.router.resolve(model);
    return route.target.provider.getCapabilities(route.model ?? '');
  }

  /** Deletes a response at the provider that created it or, if that is no longer tracked, at the default provider. */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const target = this.responseOwners.get(responseId) ?? this.router.defaultTarget;
    await target.provider.deleteResponse?.(userId, responseId);
    this.responseOwners.delete(responseId);
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

  private async callWithFallback<T>(
    userId: string,
    options: GenerateOptions,
    attempt: Attempt<T>,
    kind: ResponseKind,
  ): Promise<Served<T>> {
    const startedAt = this.ports.clock();
    const deadline = options.timeout === undefined ? Infinity : startedAt + options.timeout;
    const retryUntil = startedAt + (options.maxRetryTime ?? Infinity);
    const failures: FailedAttempt[] = [];
    const routes = options.route === undefined ? undefined : this.routesOf(options.route, options);
    const first = routes?.[0] ?? (await this.routeTo(options.model));
    const limits = { deadline, retryUntil, ...limitsOf(options) };
    const call: Call<T> = { userId, options, ...limits, attempt, startedAt, failures, kind, first };
    try {
      const value = await this.callTarget(call, first);
      return { target: first.target, value, warnings: [], attempts: failures, startedAt };
    } catch (error) {
      options.signal?.throwIfAborted();
      const mayFallBack = options.route === undefined ? canFallBack : anotherModelMayServe;
      if (!isLLMError(error) || !mayFallBack(error) || continuesAtProvider(options)) throw error;
      const served = await this.fallBack(call, routes?.slice(1) ?? this.router.after(first), error);
      if (served === undefined) throw error;
      return served;
    }
  }

  /** The targets of a routing rule: the provider of an earlier response first, those with an open circuit last. */
  private routesOf(route: SelectedRoute, { previous_response_id: previousId }: GenerateOptions): readonly Route[] {
    const owner = previousId === undefined ? undefined : this.responseOwners.get(previousId);
    const rank = ({ target }: Route): number => (target === owner ? -1 : Number(!target.admits));
    const routes = this.router.routesTo(route.targets).toSorted((left, right) => rank(left) - rank(right));
    if (routes.length === 0) throw unknownModel(route.name);
    return routes;
  }

  /** An unknown provider may have been created in another process a moment ago. */
  private async routeTo(model: string | undefined): Promise<Route> {
    try {
      return this.router.resolve(model);
    } catch (error) {
      if (!(error instanceof LLMModelNotFoundError)) throw error;
      await this.router.refresh();
      return this.router.resolve(model);
    }
  }

  private async fallBack<T>(
    call: Call<T>,
    fallbacks: readonly Route[],
    error: LLMError,
  ): Promise<Served<T> | undefined> {
    const { code } = error;
    const { first: failed } = call;
    let last = { target: failed.target, failure: error };
    for (const route of fallbacks) {
      if (this.ports.clock() >= call.deadline) break;
      this.onFallback(call, last, route.target);
      try {
        const value = await this.callFallback(call, route);
        const [asked, serving] =
          call.options.route === undefined
            ? [failed.target.id, route.target.id]
            : [addressOf(failed), addressOf(route)];
        const warning = `The provider "${asked}" failed (${code}); "${serving}" served the request instead.`;
        const { startedAt, failures: attempts } = call;
        return { target: route.target, value, warnings: [warning], attempts, startedAt };
      } catch (thrown) {
        // The error to throw is the first one, of the requested provider.
        call.options.signal?.throwIfAborted();
        last = { target: route.target, failure: isLLMError(thrown) ? thrown : error };
      }
    }
    // The first error is thrown, so that nothing else reports a response that the last fallback billed.
    if (last.failure !== error && last.failure.response !== undefined)
      this.reportFailure(call, failedAttempt(last.target, last.failure, 0));
    return undefined;
  }

  /** Another vendor rarely knows the requested model. If it does not, its next attempt uses its own default model. */
  private callFallback<T>(call: Call<T>, route: Route): Promise<T> {
    if (call.options.route !== undefined) return this.callTarget(call, route);
    let knowsModel = route.model !== undefined;
    const attempt: Attempt<T> = async (provider, request, permit) => {
      if (!knowsModel)
        return call.attempt(provider, forRoute(request, { target: route.target, model: undefined }), permit);
      try {
        return await call.attempt(provider, request, permit);
      } catch (error) {
        if (!(error instanceof LLMModelNotFoundError)) throw error;
        knowsModel = false;
        throw new LLMModelNotFoundError(error.message, { cause: error, retryable: true });
      }
    };
    return this.callTarget({ ...call, attempt }, route);
  }

  private callTarget<T>(call: Call<T>, route: Route): Promise<T> {
    const { userId, options, attempt } = call;
    const { target } = route;
    const observedAttempt: Attempt<T> = async (provider, request, permit) => {
      const startedAt = this.ports.clock();
      this.reportAttempt(call, route);
      try {
        const value = await attempt(provider, request, permit);
        this.rate(call, route, startedAt);
        return value;
      } catch (error) {
        this.accountFailure(target, userId, error);
        if (options.route !== undefined && isLLMError(error))
          this.routeStats.failed(options.route.name, addressOf(route), error);
        throw error;
      }
    };
    return target.call(userId, forRoute(options, route), call, observedAttempt, (failure, delay) => {
      const milliseconds = Math.round(delay);
      this.logger.debug(
        `${describeFailure(target, failure)} Retrying in ${milliseconds} ms.`,
        logFields(call, failure),
      );
      this.reportFailure(call, failedAttempt(target, failure, milliseconds));
    });
  }

  private reportAttempt<T>({ options, failures, first }: Call<T>, { target, model }: Route): void {
    const { onAttempt, route } = options;
    if (onAttempt === undefined) return;
    const called = model ?? target.provider.defaultModel;
    const requested = route === undefined ? first : this.router.routesTo(route.targets.slice(0, 1))[0];
    this.notify('onAttempt', () =>
      onAttempt({
        providerId: target.id,
        ...(called === undefined ? {} : { model: called }),
        number: failures.length + 1,
        isFallback: target !== requested?.target || model !== requested.model,
        ...(route === undefined ? {} : { route: route.name }),
      }),
    );
  }

  /** Measures the targets of routing rules. */
  private rate<T>({ options: { route }, kind }: Call<T>, served: Route, startedAt: number): void {
    if (route === undefined) return;
    const { name, conversation } = route;
    this.routeStats.succeeded(name, addressOf(served), kind, this.ports.clock() - startedAt, conversation);
  }

  private onFallback<T>(
    call: Call<T>,
    { target, failure }: { readonly target: ProviderTarget; readonly failure: LLMError },
    { id: fallback }: ProviderTarget,
  ): void {
    this.logger.warn(`${describeFailure(target, failure)} Falling back to "${fallback}".`, logFields(call, failure));
    this.reportFailure(call, { ...failedAttempt(target, failure, 0), fallback });
  }

  private reportFailure(
    { options, failures }: { readonly options: Pick<GenerateOptions, 'onRetry'>; readonly failures: FailedAttempt[] },
    failed: FailedAttempt,
  ): void {
    failures.push(failed);
    this.notify('onRetry', () => options.onRetry?.(failed));
  }

  private notify(name: string, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.logger.error(`The ${name} callback of a request failed.`, error);
    }
  }

  /** Counts a response, and completes it with what preceded it. */
  private account<T>(served: Served<T>, userId: string, given: LLMResponse): LLMResponse {
    const { target } = served;
    const response = withAttempts(given, served);
    this.record(target, userId, response.usage);
    this.responseOwners.set(response.id, target);
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
