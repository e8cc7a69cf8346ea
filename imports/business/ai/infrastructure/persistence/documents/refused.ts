/** One form for everything that the language of the stores refuses. */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';

export function refused(path: string, why: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${path} ${why}`, { path });
}
