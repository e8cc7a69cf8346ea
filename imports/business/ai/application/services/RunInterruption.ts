/** What ends a run before its answer: one signal for its model call and its tools, and one error that says why. */
import { setMaxListeners } from 'node:events';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError } from '../../domain/errors/LLMErrors';

export class RunInterruption {
  private readonly controller = new AbortController();
  private readonly came: Promise<never>;

  constructor() {
    // Each open call listens; Node would take more than ten for a leak.
    setMaxListeners(0, this.signal);
    this.came = new Promise((_resolve, reject) => {
      this.signal.addEventListener('abort', () => reject(this.error), { once: true });
    });
    // It is raced against the run's steps; between them nobody listens, and that is no failure.
    this.came.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The first reason counts. */
  interrupt(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Why the run was interrupted. */
  get error(): LLMError {
    const reason: unknown = this.signal.reason;
    return isLLMError(reason) ? reason : new LLMAbortedError('The run was aborted.', { cause: reason });
  }

  /** @throws what the run was interrupted with */
  throwIfCome(): void {
    if (this.signal.aborted) throw this.error;
  }

  /** The outcome of a step of the run, or the interruption if that comes first. */
  race<T>(step: Promise<T>): Promise<T> {
    return Promise.race([step, this.came]);
  }
}
