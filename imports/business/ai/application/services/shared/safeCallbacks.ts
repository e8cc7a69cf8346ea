/** The callbacks with which a program watches a call. */
import type { Logger } from '../../../domain/interfaces/Logger';
import { watching } from '../../../domain/util/watching';
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
  let safe: Record<string, (event: unknown) => void> | undefined;
  for (const name of WATCHING_CALLBACKS) {
    const callback = options[name] as ((event: unknown) => unknown) | undefined;
    if (typeof callback === 'function') (safe ??= {})[name] = watching(name, callback, logger);
  }
  return safe;
}
