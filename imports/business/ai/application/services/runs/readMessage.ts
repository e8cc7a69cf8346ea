/** Checks what is sent to a run before it is stored. */
import { ConflictError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { MessageItem } from '../../../domain/types/ResponsesAPITypes';
import { MESSAGE_TIMES } from '../../../domain/types/RunMessages';
import type { MessageTime } from '../../../domain/types/RunMessages';
import { normalizeInput } from '../ContentNormalizer';

/** Characters. */
const MAX_MESSAGE_ID = 128;
/** UTF-8 bytes of JSON text. Those that wait are part of the run's document. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** @param message a text, or one message of the user @throws LLMInvalidRequestError */
export function readMessage(message: unknown): MessageItem {
  const [item, ...others] = normalizeInput(message);
  if (others.length > 0 || item?.type !== 'message' || item.role !== 'user')
    throw new LLMInvalidRequestError('"message" must be a text, or one message of the user.', { path: 'message' });
  if (Buffer.byteLength(JSON.stringify(item)) > MAX_MESSAGE_BYTES)
    throw new LLMInvalidRequestError(`"message" must have at most ${MAX_MESSAGE_BYTES} bytes as JSON.`, {
      path: 'message',
    });
  return item;
}

/** @throws LLMInvalidRequestError */
export function readTime(when: unknown): MessageTime {
  const time = MESSAGE_TIMES.find((each) => each === when);
  if (time !== undefined) return time;
  throw new LLMInvalidRequestError(`"when" must be one of: ${MESSAGE_TIMES.join(', ')}.`, { path: 'when' });
}

/** @throws LLMInvalidRequestError */
export function readMessageId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && id.length <= MAX_MESSAGE_ID && id.isWellFormed()) return id;
  throw new LLMInvalidRequestError(`"messageId" must be a text of 1 to ${MAX_MESSAGE_ID} characters.`, {
    path: 'messageId',
  });
}

export function takenError(executionId: string, messageId: string): ConflictError {
  return new ConflictError(`The run "${executionId}" has received the message "${messageId}", or it was withdrawn.`, {
    path: 'messageId',
  });
}
