/** Cancels a run: its model call and its tools, with one error that states the reason. */
import { setMaxListeners } from 'node:events';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError } from '../../../domain/errors/LLMErrors';
import type { AbortListener, AbortSource } from '../shared/AbortSource';
import { LeaseLostError } from '../../../domain/errors/LeaseLostError';
import { toRunError } from './toRunError';

export class RunCancellation implements AbortSource {
  private cancelledWith: LLMError | undefined;
  /** Created when something asks for a signal, since it is large and most waiting runs need none. */
  private controller: AbortController | undefined;
  /** A run that waits mostly has one, for which a set would be large. */
  private listeners: AbortListener | Set<AbortListener> | undefined;
  /** Rejects the race that is in progress. */
  private rejectRace: ((error: LLMError) => void) | undefined;

  get aborted(): boolean {
    return this.cancelledWith !== undefined;
  }

  get isHandedOver(): boolean {
    return this.cancelledWith instanceof LeaseLostError;
  }

  /** For model calls; see `releaseSignal`. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      // Whatever listens during a call may add any number of listeners; Node would warn of a leak from the eleventh on.
      setMaxListeners(0, this.controller.signal);
      if (this.cancelledWith !== undefined) this.controller.abort(this.cancelledWith);
    }
    return this.controller.signal;
  }

  /** To be called when nothing that received the signal is in progress: the next call gets another signal. */
  releaseSignal(): void {
    this.controller = undefined;
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    const { listeners } = this;
    if (listeners === undefined || listeners === listener) this.listeners = listener;
    else if (listeners instanceof Set) listeners.add(listener);
    else this.listeners = new Set([listeners, listener]);
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    const { listeners } = this;
    if (listeners instanceof Set) listeners.delete(listener);
    if (listeners === listener || (listeners instanceof Set && listeners.size === 0)) this.listeners = undefined;
  }

  /** Only the first reason counts. */
  cancel(reason: unknown): void {
    if (this.cancelledWith === undefined) {
      this.cancelledWith = toCancellation(reason);
      this.controller?.abort(this.cancelledWith);
      const { listeners } = this;
      if (listeners instanceof Set) for (const listener of listeners) listener.handleEvent();
      else listeners?.handleEvent();
    }
    this.rejectRace?.(this.error);
  }

  /** Ends the step that is in progress, and not the run. */
  interrupt(reason: LLMError): void {
    const { controller } = this;
    this.releaseSignal();
    controller?.abort(reason);
    this.rejectRace?.(reason);
  }

  /** Why the run was cancelled. */
  get error(): LLMError {
    return this.cancelledWith ?? toCancellation(undefined);
  }

  /** @throws the reason, once the run was cancelled */
  throwIfCancelled(): void {
    if (this.aborted) throw this.error;
  }

  /** Resolves with the step's outcome, or rejects as soon as the run is cancelled. One race at a time. */
  race<T>(step: Promise<T>): Promise<T> {
    // One promise per race: `Promise.race` on a promise that lives as long as the run would retain every step.
    return new Promise<T>((resolve, rejectRace) => {
      this.rejectRace = rejectRace;
      if (this.aborted) rejectRace(this.error);
      const end = (): void => {
        // A step that outlived its race must not end the next one.
        if (this.rejectRace === rejectRace) this.rejectRace = undefined;
      };
      step.then(
        (outcome) => {
          end();
          resolve(outcome);
        },
        (error: unknown) => {
          end();
          rejectRace(error instanceof Error ? error : toRunError(error));
        },
      );
    });
  }
}

/** @param reason of an abort, which may be any value */
export function toCancellation(reason: unknown): LLMError {
  return isLLMError(reason) ? reason : new LLMAbortedError('The run was aborted.', { cause: reason });
}
