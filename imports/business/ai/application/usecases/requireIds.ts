/** What every request of a model names, and how a caller comes by it. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';

const REQUIRED = {
  requestId:
    'Generate one for each request, such as Random.id(), and pass it, in the options of the positional form. ' +
    'A call that is sent again after a lost connection is then the same run.',
  providerId: 'Pass the id of a provider; ai.providers.list lists them.',
} as const;

/** @throws LLMInvalidRequestError if the request's id or its provider is missing */
export function requireIds(request: { readonly [N in keyof typeof REQUIRED]?: unknown }): void {
  for (const name of ['requestId', 'providerId'] as const)
    if ((request[name] ?? undefined) === undefined)
      throw new LLMInvalidRequestError(`"${name}" is missing. ${REQUIRED[name]}`, { path: name });
}
