/** This process has lost its database for good, and has to be started again: unlike an outage, waiting is no use. */
import { LLMServerError } from './LLMErrors';

export class StoreLostError extends LLMServerError {
  constructor(message: string) {
    super(message, { retryable: false });
  }

  override get httpStatus(): number {
    return 503;
  }
}
