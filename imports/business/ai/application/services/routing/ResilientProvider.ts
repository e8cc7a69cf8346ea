/** Routes requests to one or more providers, with retries, circuit breakers, fallbacks and usage accounting. */
import { consoleLogger } from '../../../domain/consoleLogger';
import { LLMInvalidRequestError, LLMModelNotFoundError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { noEmbeddings } from '../../../domain/errors/noEmbeddings';
import { safeMessage } from '../../../domain/errors/safeText';
import { isObject } from '../../../domain/json';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { UsageEntry, UsedTokens } from '../../../domain/types/UsageRecords';
import { LruMap } from '../shared/LruMap';
import { PartialUsage } from './estimateUsage';
import { eventsOf, primeStream } from './primeStream';
import { ProviderTarget } from './ProviderTarget';
import type { Attempt, CallLimits, RetryPorts, TargetHealth } from './ProviderTarget';
import { ProviderRouter } from './ProviderRouter';
import type { ProviderSet, Route } from './ProviderRouter';
import { canFallBack, retrySettings } from './RetryPolicy';
import type { RetrySettings } from './RetryPolicy';
import { UsageLedger } from './UsageLedger';
import { sleep } from '../shared/time';

export interface ResilientProviderOptions extends ProviderSet, Partial<RetryPorts> {
  readonly retry?: Partial<RetrySettings>;
  readonly limits?: Partial<ResilientLimits>;
  /** Called with every usage as it is counted. */
  readonly onUsage?: (used: UsedTokens) => void;
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

interface Call<T> extends CallLimits {
  readonly userId: string;
  readonly options: GenerateOptions;
  readonly attempt: Attempt<T>;
  readonly startedAt: number;
  /** The failures so far, oldest first. */
  readonly failures: FailedAttempt[];
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
    const served = await this.callWithFallback(userId, options, attempt);
    return this.account(served, userId, served.value);
  }

  /**
   * Ends with `response.completed` or throws what `generate` throws. After the first substantial event there is no
   * retry.
   */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const served = await this.callWithFallback(userId, options, async (provider, request, permit) => {
      const events = await primeStream(provider.stream(userId, request));
      permit.responding();
      return { events, permit };
    });
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

  private async callWithFallback<T>(userId: string, options: GenerateOptions, attempt: Attempt<T>): Promise<Served<T>> {
    const startedAt = this.ports.clock();
    const deadline = options.timeout === undefined ? Infinity : startedAt + options.timeout;
    const retryUntil = startedAt + (options.maxRetryTime ?? Infinity);
    const failures: FailedAttempt[] = [];
    const call: Call<T> = { userId, options, deadline, retryUntil, attempt, startedAt, failures };
    const route = await this.routeTo(options.model);
    try {
      const value = await this.callTarget(call, route);
      return { target: route.target, value, warnings: [], attempts: failures, startedAt };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isLLMError(error) || !canFallBack(error) || continuesAtProvider(options)) throw error;
      const served = await this.fallBack(call, route, error);
      if (served === undefined) throw error;
      return served;
    }
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

  private async fallBack<T>(call: Call<T>, failed: Route, error: LLMError): Promise<Served<T> | undefined> {
    const { code } = error;
    let last = { target: failed.target, failure: error };
    for (const route of this.router.after(failed)) {
      if (this.ports.clock() >= call.deadline) break;
      this.onFallback(call, last, route.target);
      try {
        const value = await this.callFallback(call, route);
        const warning = `The provider "${failed.target.id}" failed (${code}); "${route.target.id}" served the request instead.`;
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

  private callTarget<T>(call: Call<T>, { target, model }: Route): Promise<T> {
    const { userId, options, attempt } = call;
    const countingAttempt: Attempt<T> = async (provider, request, permit) => {
      try {
        return await attempt(provider, request, permit);
      } catch (error) {
        this.accountFailure(target, userId, error);
        throw error;
      }
    };
    return target.call(userId, forRoute(options, { target, model }), call, countingAttempt, (failure, delay) => {
      const milliseconds = Math.round(delay);
      this.logger.debug(
        `${describeFailure(target, failure)} Retrying in ${milliseconds} ms.`,
        logFields(call, failure),
      );
      this.reportFailure(call, failedAttempt(target, failure, milliseconds));
    });
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
    try {
      options.onRetry?.(failed);
    } catch (error) {
      this.logger.error('The onRetry callback of a request failed.', error);
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

/** Only the requested provider knows the conversation behind a previous response or in a thread. */
function continuesAtProvider({ previous_response_id, vendor }: GenerateOptions): boolean {
  const { thread } = vendor?.anthropic ?? {};
  return previous_response_id !== undefined || (isObject(thread) && thread.type === 'continue');
}

/** Returns the same object where nothing changes, so that its normalized input stays cached. */
function forRoute(options: GenerateOptions, { model }: Route): GenerateOptions {
  if (options.model === model) return options;
  const { model: _requested, ...rest } = options;
  return model === undefined ? rest : { model, ...rest };
}

function withAttempts<T>(response: LLMResponse, { warnings, attempts }: Served<T>): LLMResponse {
  if (warnings.length === 0 && attempts.length === 0) return response;
  const { vendor } = response;
  return { ...response, vendor: { ...vendor, warnings: [...vendor.warnings, ...warnings], attempts: [...attempts] } };
}

function failedAttempt({ id }: ProviderTarget, { code, status, response }: LLMError, delay: number): FailedAttempt {
  return { providerId: id, reason: code, ...(status === undefined ? {} : { status }), delay, ...billOf(response) };
}

function billOf(response: LLMResponse | undefined): Pick<FailedAttempt, 'usage' | 'cost' | 'unpriced'> {
  if (response === undefined || response.usage.total_tokens === 0) return {};
  const { cost, unpriced } = response.vendor;
  return {
    usage: response.usage,
    ...(cost === undefined ? {} : { cost }),
    ...(unpriced === undefined ? {} : { unpriced }),
  };
}

/** Messages of hand-written providers may contain anything. */
function describeFailure({ id }: ProviderTarget, { code, message }: LLMError): string {
  return `The provider "${id}" failed (${code}: ${safeMessage(message)}).`;
}

function logFields<T>({ userId, options }: Call<T>, { status, requestId }: LLMError): object {
  return {
    userId,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}
