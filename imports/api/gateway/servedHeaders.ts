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
    const headers = {
      'x-bolide-provider': headerValue(providerId),
      'x-bolide-model': model === undefined ? undefined : headerValue(model),
      'x-bolide-route': route === undefined ? undefined : headerValue(route),
      'x-bolide-attempts': String(number),
      'x-bolide-fallback': isFallback ? 'true' : undefined,
    };
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined) response.removeHeader(name);
      else response.set(name, value);
    }
  };
}

/** Names may have characters that HTTP headers must not have. */
function headerValue(name: string): string {
  return name.replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}
