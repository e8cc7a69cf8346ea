/** A run that is not there and one that is somebody else's are told apart by nobody. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';

export class UnknownRunError extends LLMInvalidRequestError {
  constructor() {
    super('There is no such run.', { path: 'executionId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}
