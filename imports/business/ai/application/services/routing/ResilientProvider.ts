/** One or several providers behind the one retry policy: routing, retries, circuits, fallback, and what was used. */
import { LLMInvalidRequestError, LLMModelNotFoundError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { ErrorCode } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { UsageEntry, UsedTokens } from '../../../domain/types/UsageRecords';
import { LruMap } from '../shared/LruMap';
import { PartialUsage } from '../InterruptedUsage';
import { eventsOf, primeStream } from './primeStream';
import { ProviderTarget } from './ProviderTarget';
import type { Attempt, RetryPorts } from './ProviderTarget';
import { ProviderRouter } from './ProviderRouter';
import type { ProviderSet, Route } from './ProviderRouter';
import { mayFallBack, retrySettings } from './RetryPolicy';
import type { RetrySettings } from './RetryPolicy';
import { UsageLedger } from './UsageLedger';
import { normalizeResponse } from './normalizeResponse';
import { sleep } from '../shared/time';

export interface ResilientProviderOptions extends ProviderSet, Partial<RetryPorts> {
  readonly retry?: Partial<RetrySettings>;
  readonly limits?: Partial<ResilientLimits>;
  /** Told of everything that was used, as it is counted. */
  readonly onUsage?: (used: UsedTokens) => void;
}

export interface ResilientLimits {
  /** Pairs of provider and user whose usage is kept apart. */
  readonly trackedUsers: number;
  /** Responses whose provider is remembered, so that they are deleted there. */
  readonly trackedResponses: number;
}

export const DEFAULT_RESILIENT_LIMITS: ResilientLimits = { trackedUsers: 10_000, trackedResponses: 10_000 };

interface Served<T> {
  readonly target: ProviderTarget;
  readonly value: T;
  /** Why another provider answered than the one that was asked. */
  readonly warnings: readonly string[];
}

interface Call<T> {
  readonly userId: string;
  readonly options: GenerateOptions;
  readonly deadline: number;
  readonly attempt: Attempt<T>;
}

/**
 * Each provider is asked at most three times, and again only for errors that say so, never after an attempt gave
 * output or its vendor ran a tool. When a provider itself is the trouble (down, slow, overloaded, throttled, out of
 * quota, or refusing its credential) the fallback providers are asked in turn, under the same policy; when the
 * request is the trouble (invalid, too long, unknown model, a chain that only one provider knows), none is. If all
 * fail, the first one's error is thrown.
 */
export class ResilientProvider implements ILLMProvider {
  private readonly router: ProviderRouter;
  private readonly ports: RetryPorts;
  private readonly ledger: UsageLedger;
  private readonly responseOwners: LruMap<string, ProviderTarget>;
  private readonly onUsage: ResilientProviderOptions['onUsage'];

  /** @throws LLMInvalidRequestError for a set of providers that can't be routed to, and for senseless settings */
  constructor(options: ResilientProviderOptions) {
    const settings = retrySettings(options.retry);
    const limits = { ...DEFAULT_RESILIENT_LIMITS, ...options.limits };
    this.ports = {
      clock: options.clock ?? (() => performance.now()),
      random: options.random ?? Math.random,
      sleep: options.sleep ?? sleep,
    };
    this.router = new ProviderRouter(options, (id, provider) => new ProviderTarget(id, provider, settings, this.ports));
    this.ledger = new UsageLedger(limits.trackedUsers);
    this.responseOwners = new LruMap(limits.trackedResponses);
    this.onUsage = options.onUsage;
  }

  /** The default provider's name. */
  getProviderName(): string {
    return this.router.defaultTarget.provider.getProviderName();
  }

  /**
   * @throws LLMError for failed responses, LLMModelNotFoundError with the candidates, `options.signal.reason` when
   * aborted
   */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const attempt: Attempt<LLMResponse> = async (provider, request, ticket) => {
      const response = normalizeResponse(await provider.generate(userId, request), provider.getProviderName());
      ticket.succeeded();
      return response;
    };
    const { target, value, warnings } = await this.callWithFallback(userId, options, attempt);
    return this.account(target, userId, withWarnings(value, warnings));
  }

  /**
   * Ends with `response.completed` or throws what `generate` throws; once an event said something there is no
   * retry.
   */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const { target, value, warnings } = await this.callWithFallback(
      userId,
      options,
      async (provider, request, ticket) => {
        const opened = await primeStream(provider.stream(userId, request));
        ticket.responding();
        return { opened, ticket };
      },
    );
    const partialUsage = new PartialUsage();
    let isCounted = false;
    try {
      for await (const event of eventsOf(value.opened)) {
        partialUsage.add(event);
        if (event.type !== 'response.completed') yield event;
        else {
          value.ticket.succeeded();
          isCounted = true;
          const response = normalizeResponse(event.response, target.provider.getProviderName());
          yield { ...event, response: this.account(target, userId, withWarnings(response, warnings)) };
        }
      }
    } catch (thrown) {
      const failure = target.onStreamFailure(thrown, value.ticket, options);
      this.accountFailure(target, userId, failure);
      isCounted ||= isLLMError(failure) && failure.response !== undefined;
      throw failure;
    } finally {
      value.ticket.released();
      // Whoever leaves has had, and caused, what came until then.
      if (!isCounted) this.record(target, userId, partialUsage.estimate(options.input));
    }
  }

  /**
   * @param providerId default: the first provider
   * @throws LLMInvalidRequestError for an unknown one
   */
  async validateAccess(userId: string, providerId?: string): Promise<boolean> {
    if (providerId !== undefined && this.router.get(providerId) === undefined) await this.router.refresh();
    const host = providerId === undefined ? this.router.defaultTarget : this.router.get(providerId);
    if (host === undefined)
      throw new LLMInvalidRequestError(`no provider is called '${providerId ?? ''}'`, { path: 'providerId' });
    return host.provider.validateAccess(userId);
  }

  getCapabilities(model: string): ModelCapabilities {
    const route = this.router.resolve(model);
    return route.target.provider.getCapabilities(route.model ?? '');
  }

  /** At the provider that made the response; one that was made long ago, at the default provider. */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const host = this.responseOwners.get(responseId) ?? this.router.defaultTarget;
    await host.provider.deleteResponse?.(userId, responseId);
    this.responseOwners.delete(responseId);
  }

  /** A model's name that stands for the default model of the default provider. */
  protected get defaultModel(): string {
    return this.router.defaultTarget.id;
  }

  /** Token counts by provider and user, since this object was made. */
  usage(): readonly UsageEntry[] {
    return this.ledger.entries();
  }

  private async callWithFallback<T>(userId: string, options: GenerateOptions, attempt: Attempt<T>): Promise<Served<T>> {
    const deadline = options.timeout === undefined ? Infinity : this.ports.clock() + options.timeout;
    const call: Call<T> = { userId, options, deadline, attempt };
    const asked = await this.routeTo(options.model);
    try {
      return { target: asked.target, value: await this.callHost(call, asked), warnings: [] };
    } catch (error) {
      options.signal?.throwIfAborted();
      // The chain's items are known to the provider that was asked, and to no other.
      if (!isLLMError(error) || !mayFallBack(error) || options.previous_response_id !== undefined) throw error;
      const served = await this.fallBack(call, asked, error.code);
      if (served === undefined) throw error;
      return served;
    }
  }

  /** A provider that is not known here may have been made elsewhere a moment ago. */
  private async routeTo(model: string | undefined): Promise<Route> {
    try {
      return this.router.resolve(model);
    } catch (error) {
      if (!(error instanceof LLMModelNotFoundError)) throw error;
      await this.router.refresh();
      return this.router.resolve(model);
    }
  }

  private async fallBack<T>(call: Call<T>, asked: Route, code: ErrorCode): Promise<Served<T> | undefined> {
    for (const route of this.router.after(asked)) {
      if (this.ports.clock() >= call.deadline) return undefined;
      try {
        const value = await this.callFallback(call, route);
        const warning = `the provider '${asked.target.id}' could not answer (${code}); '${route.target.id}' answered instead`;
        return { target: route.target, value, warnings: [warning] };
      } catch {
        // The error that counts is the first one, of the provider that was asked.
        call.options.signal?.throwIfAborted();
      }
    }
    return undefined;
  }

  /** Another vendor rarely knows the model that was asked for: then its next attempt asks for its own default. */
  private callFallback<T>(call: Call<T>, route: Route): Promise<T> {
    let knowsModel = route.model !== undefined;
    const attempt: Attempt<T> = async (provider, request, ticket) => {
      if (!knowsModel)
        return call.attempt(provider, forRoute(request, { target: route.target, model: undefined }), ticket);
      try {
        return await call.attempt(provider, request, ticket);
      } catch (error) {
        if (!(error instanceof LLMModelNotFoundError)) throw error;
        knowsModel = false;
        throw new LLMModelNotFoundError(error.message, { cause: error, retryable: true });
      }
    };
    return this.callHost({ ...call, attempt }, route);
  }

  private callHost<T>({ userId, options, deadline, attempt }: Call<T>, route: Route): Promise<T> {
    return route.target.call(forRoute(options, route), deadline, async (provider, request, ticket) => {
      try {
        return await attempt(provider, request, ticket);
      } catch (error) {
        this.accountFailure(route.target, userId, error);
        throw error;
      }
    });
  }

  private account(host: ProviderTarget, userId: string, response: LLMResponse): LLMResponse {
    this.record(host, userId, response.usage);
    this.responseOwners.set(response.id, host);
    return response;
  }

  private accountFailure(host: ProviderTarget, userId: string, error: unknown): void {
    if (isLLMError(error) && error.response !== undefined) this.record(host, userId, error.response.usage);
  }

  private record({ id: providerId }: ProviderTarget, userId: string, usage: Usage): void {
    this.ledger.record(providerId, userId, usage);
    this.onUsage?.({ providerId, userId, usage });
  }
}

/** The very same options where nothing changes, so that what was normalised once stays so. */
function forRoute(options: GenerateOptions, { model }: Route): GenerateOptions {
  if (options.model === model) return options;
  const { model: _asked, ...rest } = options;
  return model === undefined ? rest : { model, ...rest };
}

function withWarnings(response: LLMResponse, warnings: readonly string[]): LLMResponse {
  if (warnings.length === 0) return response;
  return { ...response, vendor: { ...response.vendor, warnings: [...response.vendor.warnings, ...warnings] } };
}
