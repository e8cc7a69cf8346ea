/** Turns whatever a handler throws into an error that is safe to send to a client. */
import { isLLMError, LLMError } from '../../business/ai/domain/errors/LLMErrors';

/** @param onUnexpected receives errors that are bugs; the client learns only that the request failed */
export function toLLMError(thrown: unknown, onUnexpected: (thrown: unknown) => void): LLMError {
  if (isLLMError(thrown)) return thrown;
  onUnexpected(thrown);
  return new UnexpectedError();
}

class UnexpectedError extends LLMError {
  constructor() {
    super('vendor-error', 'Internal server error.', { retryable: false });
  }

  override get httpStatus(): number {
    return 500;
  }
}
