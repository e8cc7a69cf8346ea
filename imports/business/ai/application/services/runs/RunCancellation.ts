/** What ends a run before its answer: one signal for its model call and its tools, and one error that says why. */
import { setMaxListeners } from 'node:events';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError } from '../../../domain/errors/LLMErrors';

export class RunCancellation {
  private readonly controller = new AbortController();
  /** Ends the step that the run is at. */
  private stop: (() => void) | undefined;

  constructor() {
    // Each open call listens; Node would take more than ten for a leak.
    setMaxListeners(0, this.signal);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The first reason counts. */
  cancel(reason: unknown): void {
    this.controller.abort(toCancellation(reason));
    this.stop?.();
  }

  /** Why the run was interrupted. */
  get error(): LLMError {
    return toCancellation(this.signal.reason);
  }

  /** @throws what the run was interrupted with */
  throwIfCancelled(): void {
    if (this.signal.aborted) throw this.error;
  }

  /** The outcome of a step of the run, one at a time, or the interruption if that comes first. */
  async race<T>(step: Promise<T>): Promise<T> {
    // Made for each step: what is raced against a promise that lives as long as the run stays with it as long.
    const came = new Promise<never>((_resolve, reject) => {
      this.stop = () => reject(this.error);
    });
    if (this.signal.aborted) this.stop?.();
    try {
      return await Promise.race([step, came]);
    } finally {
      this.stop = undefined;
    }
  }
}

/** @param reason of an abort, which may be anything */
export function toCancellation(reason: unknown): LLMError {
  return isLLMError(reason) ? reason : new LLMAbortedError('The run was aborted.', { cause: reason });
}
