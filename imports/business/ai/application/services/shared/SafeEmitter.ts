/** An event emitter whose listeners cannot affect the emitter or one another, even if they throw or reject. */
import { EventEmitter } from 'eventemitter3';
import { consoleLogger } from '../../../../../log/consoleLogger';
import { watching } from '../../../domain/util/watching';

export abstract class SafeEmitter<E extends EventEmitter.ValidEventTypes> extends EventEmitter<E> {
  private readonly onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    super();
    this.onListenerError = watching('onListenerError', onListenerError, consoleLogger);
  }

  override emit<T extends EventEmitter.EventNames<E>>(event: T, ...args: EventEmitter.EventArgs<E, T>): boolean {
    if (this.listenerCount(event) === 0) return false;
    const listeners = this.listeners(event);
    for (const listener of listeners) {
      // With `once` set, this removes one-time listeners only.
      this.removeListener(event, listener, undefined, true);
      try {
        const outcome: unknown = (listener as (...values: unknown[]) => unknown)(...args);
        if (outcome instanceof Promise) outcome.catch(this.onListenerError);
      } catch (error) {
        this.onListenerError(error);
      }
    }
    return true;
  }
}
