/** What a route makes of the options of a call. */
import { isObject } from '../../../domain/util/json';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import { withModel } from '../ContentNormalizer';
import type { Route } from './ProviderRouter';
import { hasOwnTimeout } from './ProviderTarget';
import type { CallLimits } from './ProviderTarget';

/** Only the requested provider knows the conversation behind a previous response or in a thread. */
export function continuesAtProvider({ previous_response_id, conversation, vendor }: GenerateOptions): boolean {
  const { thread } = vendor?.anthropic ?? {};
  return (
    previous_response_id !== undefined || conversation !== undefined || (isObject(thread) && thread.type === 'continue')
  );
}

/** Whether no other provider may serve the request. What its own cannot compact is compacted without any. */
export function staysAtProvider(options: GenerateOptions): boolean {
  return continuesAtProvider(options) || options.batch !== undefined || options.compact === true;
}

/** Returns the same object where nothing changes, so that its normalized input stays cached. */
export function forRoute(options: GenerateOptions, { model }: Route): GenerateOptions {
  if (options.model === model && options.route === undefined) return options;
  if (model !== undefined) return withModel(options, model);
  const { model: _requested, route: _route, ...rest } = options;
  return rest;
}

/** Returns the name by which routing rules refer to the target. */
export function addressOf({ target, model }: Route): string {
  return model === undefined ? target.id : `${target.id}/${model}`;
}

export function limitsOf(options: GenerateOptions, startedAt: number): CallLimits {
  const { timeout = Infinity, maxRetryTime = Infinity, route, batch } = options;
  const maxAttempts = route?.maxRetries === undefined ? undefined : route.maxRetries + 1;
  return {
    deadline: startedAt + timeout,
    retryUntil: startedAt + maxRetryTime,
    hasOwnTimeout: hasOwnTimeout(options),
    attemptTimeout: route?.timeout,
    // The batch retries what concerns all of it.
    maxAttempts: batch === undefined ? maxAttempts : 1,
  };
}
