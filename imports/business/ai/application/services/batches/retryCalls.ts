/** Waiting between calls of a vendor's batch API. */
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { sleep } from '../shared/time';

export interface Backoff {
  /** Milliseconds before the second look, and between two looks at most. */
  readonly first: number;
  readonly most: number;
}

const GROWTH = 1.5;

/** A sequence of growing pauses, with a random tenth so that many processes do not look at once. */
export class Pauses {
  private readonly backoff: Backoff;
  private readonly signal: AbortSignal;
  private next: number;

  constructor(backoff: Backoff, signal: AbortSignal) {
    this.backoff = backoff;
    this.signal = signal;
    this.next = backoff.first;
  }

  /** @param least milliseconds that a vendor asks for @throws `signal.reason` as soon as the signal is aborted */
  async wait(least = 0): Promise<void> {
    const { most } = this.backoff;
    const pause = Math.max(least, this.next * (0.9 + Math.random() * 0.1));
    this.next = Math.min(most, this.next * GROWTH);
    await sleep(pause, this.signal);
  }
}

/** The error, if the call may succeed later. */
export function retryableError(error: unknown): LLMError | undefined {
  return isLLMError(error) && error.retryable ? error : undefined;
}

/**
 * @param attempts how often a call is made at most
 * @throws the last error
 */
export async function withRetries<T>(call: () => Promise<T>, pauses: Pauses, attempts = Infinity): Promise<T> {
  for (let made = 1; ; made += 1) {
    try {
      return await call();
    } catch (error) {
      const failure = retryableError(error);
      if (failure === undefined || made >= attempts) throw error;
      await pauses.wait(failure.retryAfterMs);
    }
  }
}
