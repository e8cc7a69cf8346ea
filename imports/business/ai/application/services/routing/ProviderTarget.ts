/** One provider that the router may pick, with its retry policy, retry budget and circuit breaker. */
import { fieldsOf } from '../../../domain/util/json';
import { LLMAuthError, LLMOverloadedError, LLMServerError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../../domain/errors/LLMErrors';
import type { AccessCheck, ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import { CircuitBreaker } from './CircuitBreaker';
import type { CircuitPermit } from './CircuitBreaker';
import { NormalizedProvider } from './NormalizedProvider';
import { canFallBack, isOutage, RetryBudget, retryDelay } from './RetryPolicy';
import { safeMessage } from '../../../domain/errors/safeText';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { RetrySettings } from './RetryPolicy';

/** Time and randomness, so that tests can control them. */
export interface RetryPorts {
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** @throws `signal.reason` as soon as the signal is aborted */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Is told of each attempt at a call. */
export interface AttemptObserver {
  readonly starting?: () => void;
  readonly succeeded?: () => void;
  readonly failed?: (error: unknown) => void;
  /** The failure is followed by another attempt after `delay` milliseconds. */
  readonly retrying: (failure: LLMError, delay: number) => void;
}

/** What retries need of a call's options. */
export type RetriedOptions = Pick<GenerateOptions, 'signal' | 'timeout'>;

/** One attempt. If it succeeds, it settles the permit itself, at once or when its stream ends. */
export type Attempt<T, O extends RetriedOptions = GenerateOptions> = (
  provider: ILLMProvider,
  options: O,
  permit: CircuitPermit,
) => Promise<T>;

/** What the calls of this process have shown. Times are milliseconds since the epoch. */
export interface TargetHealth {
  readonly circuit: CircuitBreaker['state'];
  /** When an open circuit lets a call through. */
  readonly opensAt?: number;
  readonly lastSuccessAt?: number;
  readonly lastError?: TargetFailure;
}

/** A failure of the provider or its account, not of a request. */
export interface TargetFailure {
  readonly at: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** Whose call failed. */
  readonly userId: string;
}

export interface CallLimits {
  /** No retry starts later, and each retry gets only the time that is left. */
  readonly deadline: number;
  /** No retry starts later. */
  readonly retryUntil: number;
  /** Limit of each attempt, in milliseconds. */
  readonly attemptTimeout?: number | undefined;
  /** Default: the retry policy's. */
  readonly maxAttempts?: number | undefined;
  /** The caller or a routing rule has set a timeout, which says nothing about the provider. */
  readonly hasOwnTimeout?: boolean;
}

export class ProviderTarget {
  readonly id: string;
  /** The provider as it was configured. Calls go to it through `call`. */
  readonly provider: ILLMProvider;
  private readonly normalized: ILLMProvider;
  private readonly settings: RetrySettings;
  private readonly ports: RetryPorts;
  private readonly budget: RetryBudget;
  private readonly breaker: CircuitBreaker;
  private readonly logger: Logger;
  private lastFailure: LLMError | undefined;
  private lastSuccessAt: number | undefined;
  private lastError: TargetFailure | undefined;

  constructor(id: string, provider: ILLMProvider, settings: RetrySettings, ports: RetryPorts, logger: Logger) {
    this.id = id;
    this.provider = provider;
    this.normalized = new NormalizedProvider(provider, id);
    this.settings = settings;
    this.ports = ports;
    this.logger = logger;
    this.budget = new RetryBudget(settings.budget, settings.budgetPerRequest);
    this.breaker = new CircuitBreaker(settings.breakerFailures, settings.breakerOpenFor, ports.clock);
  }

  /** Whether the circuit lets a call of the user through. */
  admitsUser(userId: string): boolean {
    return this.breaker.admits(userId);
  }

  get health(): TargetHealth {
    const { breaker, lastSuccessAt, lastError } = this;
    return omitUndefined({
      circuit: breaker.state,
      opensAt: breaker.state === 'open' ? Date.now() + breaker.opensIn : undefined,
      lastSuccessAt,
      lastError,
    });
  }

  /** Checks the credential by the vendor's cheapest call, which is evidence of its health, too. */
  async validateAccess(userId: string): Promise<AccessCheck> {
    try {
      const checked: unknown = await this.provider.validateAccess(userId);
      // Providers without types may resolve with the boolean alone.
      const access = { valid: checked === true || fieldsOf(checked).valid === true };
      if (access.valid) this.lastSuccessAt = Date.now();
      else this.noteFailure(new LLMAuthError('The vendor rejected the credential.'), userId);
      return access;
    } catch (error) {
      if (isLLMError(error)) this.noteFailure(error, userId);
      throw error;
    }
  }

  /**
   * Makes attempts until one succeeds or the policy ends them.
   * @param limits on the ports' clock
   * @throws LLMError of the last attempt, LLMOverloadedError while the circuit is open, `options.signal.reason`
   *   when aborted
   */
  async call<T, O extends RetriedOptions>(
    userId: string,
    options: O,
    limits: CallLimits,
    attempt: Attempt<T, O>,
    observer: AttemptObserver,
  ): Promise<T> {
    const { signal } = options;
    const { deadline, retryUntil, hasOwnTimeout = false } = limits;
    const settings =
      limits.maxAttempts === undefined ? this.settings : { ...this.settings, maxAttempts: limits.maxAttempts };
    this.budget.addRequest();
    let failure: LLMError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const permit = this.breaker.acquire(userId, this.onSuccess);
      if (permit === undefined) throw failure ?? this.circuitOpenError(userId);
      try {
        observer.starting?.();
        const value = await attempt(this.normalized, this.optionsOf(options, attempts, limits), permit);
        observer.succeeded?.();
        return value;
      } catch (thrown) {
        observer.failed?.(thrown);
        if (signal?.aborted === true) {
          permit.released();
          throw signal.reason;
        }
        failure = this.failureOf(thrown);
        this.settle(permit, failure, hasOwnTimeout, userId);
        const delay = retryDelay(failure, attempts, settings, this.ports.random);
        if (delay === undefined || !this.mayRetryAfter(delay, Math.min(deadline, retryUntil), userId)) throw failure;
        observer.retrying(failure, delay);
        await this.ports.sleep(delay, signal);
      }
    }
  }

  /**
   * Counts the failure of an attempt that had started to respond, and which is therefore never retried.
   * @returns the error to throw
   */
  onStreamFailure(thrown: unknown, permit: CircuitPermit, options: GenerateOptions, userId: string): unknown {
    if (options.signal?.aborted === true) {
      permit.released();
      return options.signal.reason;
    }
    const failure = this.failureOf(thrown);
    this.settle(permit, failure, hasOwnTimeout(options), userId);
    return failure;
  }

  private mayRetryAfter(delay: number, until: number, userId: string): boolean {
    return this.ports.clock() + delay < until && this.breaker.admits(userId) && this.budget.takeRetry();
  }

  /** A retry gets only the time that is left. */
  private optionsOf<O extends RetriedOptions>(
    options: O,
    attempts: number,
    { deadline, attemptTimeout }: CallLimits,
  ): O {
    const left =
      attempts === 1 || !Number.isFinite(deadline) ? Infinity : Math.max(1, Math.floor(deadline - this.ports.clock()));
    const timeout = Math.min(left, attemptTimeout ?? Infinity, options.timeout ?? Infinity);
    return Number.isFinite(timeout) && timeout !== options.timeout ? { ...options, timeout } : options;
  }

  private readonly onSuccess = (): void => {
    this.lastSuccessAt = Date.now();
  };

  private noteFailure(failure: LLMError, userId: string): void {
    if (!canFallBack(failure)) return;
    this.lastError = { at: Date.now(), code: failure.code, message: safeMessage(failure.message), userId };
  }

  /** @param hasOwnTimeout the caller or the routing rule has set one */
  private settle(permit: CircuitPermit, failure: LLMError, hasOwnTimeout: boolean, userId: string): void {
    // A short timeout of one caller or rule must not open the circuit for everyone else.
    const isCallersTimeout = failure.code === 'timeout' && hasOwnTimeout;
    // A token endpoint that is down says nothing about the vendor.
    if (isOutage(failure) && failure.isOfCredential === true) permit.released();
    else if (isOutage(failure) && !isCallersTimeout) {
      this.lastFailure = failure;
      const wasOpen = this.breaker.remaining(userId) > 0;
      permit.failed();
      if (!wasOpen && this.breaker.remaining(userId) > 0)
        this.logger.warn(
          this.circuitOpenError(userId).message,
          this.breaker.isOpenForAll ? 'No user’s calls are made.' : `Only the calls of "${userId}" are not made.`,
        );
    } else if (failure.status === undefined) permit.released();
    else permit.refused();
    if (!isCallersTimeout) this.noteFailure(failure, userId);
  }

  /** Anything but an LLMError is a bug in the provider: wrapped once, never retried, and its cause is logged. */
  private failureOf(thrown: unknown): LLMError {
    if (isLLMError(thrown)) return thrown;
    return new LLMServerError(`The provider "${this.id}" failed unexpectedly.`, {
      cause: thrown,
      retryable: false,
      vendor: this.id,
    });
  }

  private circuitOpenError(userId: string): LLMOverloadedError {
    // With no time remaining, a probe is in progress and its outcome is near.
    const retryAfterMs = Math.ceil(this.breaker.remaining(userId)) || 1_000;
    const seconds = Math.ceil(retryAfterMs / 1_000);
    return new LLMOverloadedError(
      `The provider "${this.id}" failed several times in a row and is not called for ${seconds} s.`,
      { vendor: this.id, retryAfterMs, cause: this.lastFailure },
    );
  }
}

/** Whether the caller or the routing rule has set a timeout, which says nothing about the provider. */
export function hasOwnTimeout({ timeout, route }: GenerateOptions): boolean {
  return (timeout ?? route?.timeout ?? route?.firstTokenTimeout) !== undefined;
}
