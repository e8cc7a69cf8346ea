/** One provider under the retry policy: its attempts, its retry budget, its circuit. */
import { LLMOverloadedError, LLMServerError, isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import { CircuitBreaker } from './CircuitBreaker';
import type { CircuitPermit } from './CircuitBreaker';
import { RetryBudget } from '../RetryBudget';
import { isHostFailure, retryDelay } from './RetryPolicy';
import type { RetrySettings } from './RetryPolicy';

/** Time and chance, so that tests own them. */
export interface RetryPorts {
  /** Milliseconds, never running backwards. */
  readonly clock: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** @throws `signal.reason` as soon as it is aborted */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** One attempt. On success it settles the ticket itself, at once or when its stream ends. */
export type Attempt<T> = (provider: ILLMProvider, options: GenerateOptions, ticket: CircuitPermit) => Promise<T>;

export class ProviderTarget {
  readonly id: string;
  readonly provider: ILLMProvider;
  private readonly settings: RetrySettings;
  private readonly ports: RetryPorts;
  private readonly budget: RetryBudget;
  private readonly breaker: CircuitBreaker;
  private lastFailure: LLMError | undefined;

  constructor(id: string, provider: ILLMProvider, settings: RetrySettings, ports: RetryPorts) {
    this.id = id;
    this.provider = provider;
    this.settings = settings;
    this.ports = ports;
    this.budget = new RetryBudget(settings.budget, settings.budgetPerRequest);
    this.breaker = new CircuitBreaker(settings.breakerFailures, settings.breakerOpenFor, ports.clock);
  }

  /**
   * @param deadline on the ports' clock: no attempt begins later, and each gets only the time that is left
   * @throws LLMError of the last attempt, LLMOverloadedError while the circuit is open, `options.signal.reason`
   *   when aborted
   */
  async call<T>(options: GenerateOptions, deadline: number, attempt: Attempt<T>): Promise<T> {
    const { signal } = options;
    this.budget.addRequest();
    let failure: LLMError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const ticket = this.breaker.acquire();
      if (ticket === undefined) throw failure ?? this.circuitOpenError();
      try {
        return await attempt(this.provider, attempts === 1 ? options : this.withTimeLeft(options, deadline), ticket);
      } catch (thrown) {
        if (signal?.aborted === true) {
          ticket.released();
          throw signal.reason;
        }
        failure = this.failureOf(thrown);
        this.settle(ticket, failure, options);
        const delay = retryDelay(failure, attempts, this.settings, this.ports.random);
        if (delay === undefined || !this.mayWait(delay, deadline)) throw failure;
        await this.ports.sleep(delay, signal);
      }
    }
  }

  /** A failure after the attempt had begun to answer: it counts, and is never retried. */
  onStreamFailure(thrown: unknown, ticket: CircuitPermit, options: GenerateOptions): unknown {
    if (options.signal?.aborted === true) {
      ticket.released();
      return options.signal.reason;
    }
    const failure = this.failureOf(thrown);
    this.settle(ticket, failure, options);
    return failure;
  }

  private mayWait(delay: number, deadline: number): boolean {
    return this.ports.clock() + delay < deadline && this.breaker.admits && this.budget.takeRetry();
  }

  private withTimeLeft(options: GenerateOptions, deadline: number): GenerateOptions {
    return Number.isFinite(deadline)
      ? { ...options, timeout: Math.max(1, Math.floor(deadline - this.ports.clock())) }
      : options;
  }

  private settle(ticket: CircuitPermit, failure: LLMError, options: GenerateOptions): void {
    // A caller's own impatience must not close the host to everybody else.
    const impatient = failure.code === 'timeout' && options.timeout !== undefined;
    if (isHostFailure(failure) && !impatient) {
      this.lastFailure = failure;
      ticket.failed();
    } else if (failure.status === undefined) ticket.released();
    else ticket.succeeded();
  }

  /**
   * Anything but an LLMError is a fault of the provider's own: wrapped once, not retried, told to nobody but the
   * log.
   */
  private failureOf(thrown: unknown): LLMError {
    if (isLLMError(thrown)) return thrown;
    return new LLMServerError(`The provider '${this.id}' failed in an unexpected way.`, {
      cause: thrown,
      retryable: false,
      vendor: this.id,
    });
  }

  private circuitOpenError(): LLMOverloadedError {
    // A probe is under way when nothing remains: its outcome is near.
    const retryAfterMs = Math.ceil(this.breaker.remaining()) || 1_000;
    const seconds = Math.ceil(retryAfterMs / 1_000);
    return new LLMOverloadedError(
      `The provider '${this.id}' failed several times in a row and is left alone for ${seconds} s.`,
      {
        vendor: this.id,
        retryAfterMs,
        cause: this.lastFailure,
      },
    );
  }
}
