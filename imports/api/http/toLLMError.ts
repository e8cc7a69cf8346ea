/** Turns whatever a handler throws into an error that is safe to send to a client. */
import { isLLMError, LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { HttpError } from './HttpError';

/** @param onUnexpected receives errors that are bugs; the client learns only that the request failed */
export function toLLMError(thrown: unknown, onUnexpected: (thrown: unknown) => void): LLMError {
  if (isLLMError(thrown)) return thrown;
  const parserError = bodyParserError(thrown);
  if (parserError !== undefined) return parserError;
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

/** Middleware throws errors with a status of their own, such as body parsers of an app. */
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
