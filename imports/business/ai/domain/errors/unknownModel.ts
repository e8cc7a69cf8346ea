/** The error of a model that the caller cannot use, whether it exists or not. */
import { LLMModelNotFoundError } from './LLMErrors';

export function unknownModel(name: string): LLMModelNotFoundError {
  return new LLMModelNotFoundError(`The model "${name}" does not exist, or you do not have access to it.`, {
    path: 'model',
  });
}
