/** Describes a failure in one line for the people who read the answer, without keys and stacks. */
import { runOf } from '../../../domain/entities/Run';
import { hasFailed } from '../../../domain/entities/Tool';
import { LLMAuthError, ToolLoopError, isLLMError } from '../../../domain/errors/LLMErrors';
import { safeMessage } from '../../../domain/errors/safeText';

/** A step other than the model call failed. The message, safe to show, states which one; the cause is for the log. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

export function failureMessage(error: unknown): string {
  if (error instanceof StageError) return error.message;
  if (error instanceof LLMAuthError) return 'Unauthorized LLM API key';
  if (!isLLMError(error)) return 'An unexpected error occurred.';
  return oneLine(error instanceof ToolLoopError ? (toolFailure(error) ?? error.message) : error.message);
}

/** The last tool call that failed. */
function toolFailure(error: ToolLoopError): string | undefined {
  const failed = runOf(error)?.toolCalls.findLast(hasFailed);
  return failed !== undefined && 'error' in failed
    ? `tool '${failed.name}' failed: ${failed.error.message}`
    : undefined;
}

function oneLine(message: string): string {
  return safeMessage(message).replace(/\s+/g, ' ');
}
