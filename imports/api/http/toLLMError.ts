/** Whatever a handler throws, as an error that can be told to a client. */
import { isLLMError, LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { HttpError } from './HttpError';

/** @param onUnexpected is told what is nobody's mistake but ours; the client hears only that something failed */
export function toLLMError(thrown: unknown, onUnexpected: (thrown: unknown) => void): LLMError {
  if (isLLMError(thrown)) return thrown;
  const refused = bodyParserError(thrown);
  if (refused !== undefined) return refused;
  onUnexpected(thrown);
  return new UnexpectedError();
}

class UnexpectedError extends LLMError {
  constructor() {
    super('vendor-error', 'Something went wrong here.', { retryable: false });
  }

  override get httpStatus(): number {
    return 500;
  }
}

/** Express's body parser throws errors that say their own status: not JSON, too large, a wrong encoding. */
function bodyParserError(thrown: unknown): HttpError | undefined {
  if (
    !(thrown instanceof Error) ||
    !('status' in thrown) ||
    typeof thrown.status !== 'number' ||
    thrown.status < 400 ||
    thrown.status > 499
  )
    return undefined;
  return new HttpError(thrown.status, MESSAGES[thrown.status] ?? thrown.message);
}

const MESSAGES: Readonly<Record<number, string>> = {
  413: 'The request body is too large.',
};
