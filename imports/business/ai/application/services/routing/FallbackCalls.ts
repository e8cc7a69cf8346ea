/** Sends a request to its first target and, when that fails, to its fallbacks, and reports what happens on the way. */
import { LLMModelNotFoundError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { unknownModel } from '../../../domain/errors/unknownModel';
import type { Logger } from '../../../domain/interfaces/Logger';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions, SelectedRoute } from '../../../domain/types/LLMTypes';
import type { FailedAttempt } from '../../../domain/types/ResponsesAPITypes';
import { describeFailure, failedAttempt, logFields } from './attemptReports';
import type { Attempt, CallLimits, ProviderTarget } from './ProviderTarget';
import type { ProviderRouter, Route } from './ProviderRouter';
import { anotherModelMayServe, canFallBack } from './RetryPolicy';
import { addressOf, forRoute, limitsOf, staysAtProvider } from './routeOptions';
import type { ResponseKind, RouteStats } from './RouteStats';

export interface FallbackCallsPorts {
  readonly router: ProviderRouter;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock: () => number;
  readonly routeStats: RouteStats;
  readonly logger: Logger;
  /** The target that created a response, while it is tracked. */
  readonly ownerOf: (userId: string, responseId: string) => ProviderTarget | undefined;
  /** Called with the error of every failed attempt. */
  readonly onFailure: (target: ProviderTarget, userId: string, error: unknown) => void;
}

export interface Served<T> {
  readonly target: ProviderTarget;
  readonly value: T;
  /** Why a fallback served the request. */
  readonly warnings: readonly string[];
  readonly attempts: readonly FailedAttempt[];
  /** On the ports' clock. */
  readonly startedAt: number;
}

interface Call<T> {
  readonly userId: string;
  readonly options: GenerateOptions;
  readonly limits: CallLimits;
  readonly attempt: Attempt<T>;
  readonly startedAt: number;
  /** The failures so far, oldest first. */
  readonly failures: FailedAttempt[];
  readonly kind: ResponseKind;
  /** Where the request goes first. */
  readonly first: Route;
}

export class FallbackCalls {
  private readonly ports: FallbackCallsPorts;

  constructor(ports: FallbackCallsPorts) {
    this.ports = ports;
  }

  /** @throws the first target's error if no target serves the request, `options.signal.reason` when aborted */
  async send<T>(userId: string, options: GenerateOptions, attempt: Attempt<T>, kind: ResponseKind): Promise<Served<T>> {
    const startedAt = this.ports.clock();
    const failures: FailedAttempt[] = [];
    const routes = options.route === undefined ? undefined : this.routesOf(userId, options.route, options);
    const resolving = routes?.[0] ?? this.ports.router.resolveFresh(options.model, options.providerId);
    const first = resolving instanceof Promise ? await resolving : resolving;
    const limits = limitsOf(options, startedAt);
    const call: Call<T> = { userId, options, limits, attempt, startedAt, failures, kind, first };
    try {
      const value = await this.callTarget(call, first);
      return { target: first.target, value, warnings: [], attempts: failures, startedAt };
    } catch (error) {
      options.signal?.throwIfAborted();
      const mayFallBack = options.route === undefined ? canFallBack : anotherModelMayServe;
      if (!isLLMError(error) || !mayFallBack(error) || staysAtProvider(options)) throw error;
      const served = await this.fallBack(call, routes?.slice(1) ?? this.ports.router.after(first), error);
      if (served === undefined) throw error;
      return served;
    }
  }

  /**
   * The targets of a routing rule: the provider of an earlier response or compaction first, those with an open circuit
   * last.
   */
  private routesOf(
    userId: string,
    route: SelectedRoute,
    { previous_response_id: previousId, compactedBy }: GenerateOptions,
  ): readonly Route[] {
    const owner = previousId === undefined ? undefined : this.ports.ownerOf(userId, previousId);
    const isOwner = (target: ProviderTarget): boolean => target === owner || target.id === compactedBy?.providerId;
    const rank = ({ target }: Route): number => (isOwner(target) ? -1 : Number(!target.admitsUser(userId)));
    const routes = this.ports.router.routesTo(route.targets).toSorted((left, right) => rank(left) - rank(right));
    if (routes.length === 0) throw unknownModel(route.name);
    return routes;
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
      if (this.ports.clock() >= call.limits.deadline) break;
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
    const { userId, options, limits, attempt } = call;
    const { target } = route;
    let startedAt = 0;
    return target.call(userId, forRoute(options, route), limits, attempt, {
      starting: () => {
        startedAt = this.ports.clock();
        this.reportAttempt(call, route);
      },
      succeeded: () => this.rate(call, route, startedAt),
      failed: (error) => {
        this.ports.onFailure(target, userId, error);
        if (options.route !== undefined && isLLMError(error) && error.isOfCredential !== true)
          this.ports.routeStats.failed(options.route.name, addressOf(route), error, userId);
      },
      retrying: (failure, delay) => {
        const milliseconds = Math.round(delay);
        this.ports.logger.debug(
          `${describeFailure(target, failure)} Retrying in ${milliseconds} ms.`,
          logFields(call, failure),
        );
        this.reportFailure(call, failedAttempt(target, failure, milliseconds));
      },
    });
  }

  private reportAttempt<T>({ options, failures, first }: Call<T>, { target, model }: Route): void {
    const { onAttempt, route } = options;
    if (onAttempt === undefined) return;
    const called = model ?? target.provider.defaultModel;
    const requested = route === undefined ? first : this.ports.router.routesTo(route.targets.slice(0, 1))[0];
    this.notify('onAttempt', () =>
      onAttempt({
        providerId: target.id,
        number: failures.length + 1,
        isFallback: target !== requested?.target || model !== requested.model,
        ...omitUndefined({ model: called, route: route?.name }),
      }),
    );
  }

  /** Measures the targets of routing rules. */
  private rate<T>({ userId, options: { route }, kind }: Call<T>, served: Route, startedAt: number): void {
    if (route === undefined) return;
    const { name, conversation } = route;
    const owned = conversation === undefined ? undefined : { userId, name: conversation };
    this.ports.routeStats.succeeded(name, addressOf(served), kind, this.ports.clock() - startedAt, owned);
  }

  private onFallback<T>(
    call: Call<T>,
    { target, failure }: { readonly target: ProviderTarget; readonly failure: LLMError },
    { id: fallback }: ProviderTarget,
  ): void {
    this.ports.logger.warn(
      `${describeFailure(target, failure)} Falling back to "${fallback}".`,
      logFields(call, failure),
    );
    this.reportFailure(call, { ...failedAttempt(target, failure, 0), fallback });
  }

  reportFailure(
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
      this.ports.logger.error(`The ${name} callback of a request failed.`, error);
    }
  }
}
