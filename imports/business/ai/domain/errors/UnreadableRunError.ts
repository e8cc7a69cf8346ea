/** What is stored of a run cannot be restored: another version wrote it, or it was altered. */
import { LLMServerError } from './LLMErrors';

export class UnreadableRunError extends LLMServerError {
  constructor(executionId: string, cause: unknown) {
    super(
      `What is stored of the run "${executionId}" cannot be read: ${reasonOf(cause)} Resume it once a version that can read it is running, or end it.`,
      { cause, retryable: false },
    );
  }
}

/** The message of a SyntaxError quotes what was parsed, which is nobody else's business. */
function reasonOf(cause: unknown): string {
  if (cause instanceof SyntaxError) return 'it is not valid JSON.';
  return cause instanceof Error ? cause.message.replace(/[^.]$/, '$&.') : 'it is incomplete.';
}
