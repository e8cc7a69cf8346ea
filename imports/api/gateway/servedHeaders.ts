/** HttpResponse headers that say which provider and model have served a request, and after how many attempts. */
import type { HttpResponse } from '../http/HttpMessages';
import type { StartedAttempt } from '../../business/ai/domain/types/LLMTypes';

/** @returns the listener for each attempt: the last one before the headers are sent is the one that serves */
export function servedHeaders(
  response: Pick<HttpResponse, 'headersSent' | 'removeHeader' | 'set'>,
): (attempt: StartedAttempt) => void {
  return ({ providerId, model, number, isFallback, route }) => {
    // A keep-alive message may have sent the headers already.
    if (response.headersSent) return;
    const set = (name: string, value: string | undefined): void => {
      if (value === undefined) response.removeHeader(name);
      else response.set(name, value);
    };
    set('x-bolide-provider', headerValue(providerId));
    set('x-bolide-model', model === undefined ? undefined : headerValue(model));
    set('x-bolide-route', route === undefined ? undefined : headerValue(route));
    set('x-bolide-attempts', String(number));
    set('x-bolide-fallback', isFallback ? 'true' : undefined);
  };
}

/** Names may have characters that HTTP headers must not have. */
function headerValue(name: string): string {
  return name.replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}
