/** The paths below which hosts and other gateways serve the vendors' APIs, so that clients set up for them work. */
import type { HttpHandler } from './HttpMessages';

const ALIASES: readonly (readonly [RegExp, string])[] = [
  // Groq's own path is /openai/v1, and Azure's current one too.
  [/^\/(?:groq\/)?openai\/v1(?=[/?]|$)/, '/v1'],
  [/^\/anthropic\/v1(?=[/?]|$)/, '/v1'],
  // Azure's paths of dated API versions. Those of deployments have a route of their own.
  [/^\/openai\/(?=(?:responses|models|files|batches)(?:[/?]|$))/, '/v1/'],
  [/^\/openai\/deployments\/[^/?]+\/(?=batches(?:[/?]|$)|images\/|audio\/)/, '/v1/'],
];

/** @param url a path, with or without a query */
export function canonicalPath(url: string): string {
  const alias = ALIASES.find(([pattern]) => pattern.test(url));
  return alias === undefined ? url : url.replace(...alias);
}

export const useCanonicalPath: HttpHandler = (request, _response, next) => {
  request.url = canonicalPath(request.url);
  next();
};
