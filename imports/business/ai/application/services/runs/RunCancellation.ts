/** Cancels a run: one signal for its model call and its tools, and one error that states the reason. */
import { setMaxListeners } from 'node:events';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError } from '../../../domain/errors/LLMErrors';

export class RunCancellation {
  private readonly controller = new AbortController();
  /** Rejects the race that is in progress. */
  private rejectRace: (() => void) | undefined;

  constructor() {
    // Each open call adds a listener; Node would warn of a leak from the eleventh on.
    setMaxListeners(0, this.signal);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Only the first reason counts. */
  cancel(reason: unknown): void {
    this.controller.abort(toCancellation(reason));
    this.rejectRace?.();
  }

  /** Why the run was cancelled. */
  get error(): LLMError {
    return toCancellation(this.signal.reason);
  }

  /** @throws the reason, once the run was cancelled */
  throwIfCancelled(): void {
    if (this.signal.aborted) throw this.error;
  }

  /** Resolves with the step's outcome, or rejects as soon as the run is cancelled. One race at a time. */
  async race<T>(step: Promise<T>): Promise<T> {
    // One promise per race: `Promise.race` on a promise that lives as long as the run would retain every step.
    const cancelled = new Promise<never>((_resolve, reject) => {
      this.rejectRace = () => reject(this.error);
    });
    if (this.signal.aborted) this.rejectRace?.();
    try {
      return await Promise.race([step, cancelled]);
    } finally {
      this.rejectRace = undefined;
    }
  }
}

/** @param reason of an abort, which may be any value */
export function toCancellation(reason: unknown): LLMError {
  return isLLMError(reason) ? reason : new LLMAbortedError('The run was aborted.', { cause: reason });
}
