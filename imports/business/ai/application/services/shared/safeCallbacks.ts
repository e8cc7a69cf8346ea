/** The callbacks with which a program watches a call: what they throw is logged, and fails nothing. */
import type { Logger } from '../../../domain/interfaces/Logger';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';

/** All but `onSend`, which may refuse the call. */
export const WATCHING_CALLBACKS = [
  'onAnnotation',
  'onAttempt',
  'onBody',
  'onCache',
  'onExchange',
  'onHead',
  'onRateLimits',
  'onRetry',
] as const satisfies readonly (keyof GenerateOptions)[];

export type WatchingCallbacks = Partial<Pick<GenerateOptions, (typeof WATCHING_CALLBACKS)[number]>>;

/** @returns the callbacks that the options have, safe; undefined if they have none */
export function safeCallbacks(options: WatchingCallbacks, logger: Logger): WatchingCallbacks | undefined {
  const safe = WATCHING_CALLBACKS.flatMap((name) => {
    const callback = options[name] as ((event: unknown) => unknown) | undefined;
    return typeof callback === 'function' ? [[name, safely(name, callback, logger)] as const] : [];
  });
  // Each has the parameter of the callback that it calls.
  return safe.length === 0 ? undefined : (Object.fromEntries(safe) as WatchingCallbacks);
}

function safely(name: string, callback: (event: unknown) => unknown, logger: Logger): (event: unknown) => void {
  const report = (error: unknown): void => logger.error(`The callback "${name}" of a model call threw.`, error);
  return (event) => {
    try {
      const result = callback(event);
      // An async function is assignable to one without a result.
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
