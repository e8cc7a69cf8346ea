/** Reads the body that the AI SDK's `DefaultChatTransport` sends, with the fields that Bolide adds. */
import {
  boolean,
  identifier,
  invalid,
  listOf,
  oneOf,
  optional,
  readObject,
  required,
  text,
} from '../../business/ai/domain/util/arguments';
import { requestedCompaction } from '../../business/ai/application/operations/readArguments';
import type { RequestedCompaction } from '../../business/ai/application/usecases/RunLauncher';
import { INPUT_LIMITS } from '../../business/ai/application/operations/readInput';
import { readUIMessages } from '../../interop/aiSdk/readUIMessages';
import type { ReadMessage } from '../../interop/aiSdk/readUIMessages';
import { HttpError } from '../http/HttpError';

export interface ChatRequest {
  readonly chatId: string;
  readonly messages: readonly ReadMessage[];
  /** JSON of the messages as they were sent. */
  readonly sentMessages: string;
  readonly trigger: 'submit-message' | 'regenerate-message';
  readonly model?: string;
  readonly instructions?: string;
  /** Names of tools. Default: all that need no other service. */
  readonly tools?: readonly string[];
  /** Default: the server's. */
  readonly compaction?: RequestedCompaction;
  /** Shows the input of calls while the model writes it. Default: false. */
  readonly streamArguments?: boolean;
}

const FIELDS = [
  'id',
  'messages',
  'trigger',
  'messageId',
  'model',
  'instructions',
  'tools',
  'compaction',
  'streamArguments',
  'metadata',
] as const;
const MAX_INSTRUCTIONS = 100_000;
const MAX_TOOLS = 128;
const MAX_NAME = 256;

/** @throws LLMInvalidRequestError with the path of the invalid value; HttpError 413 */
export function readChatRequest(body: unknown): ChatRequest {
  const fields = readObject(body, FIELDS);
  const messages = required(fields, 'messages', readUIMessages);
  if (messages.length === 0) throw invalid('messages', 'must not be empty');
  const sentMessages = JSON.stringify(fields.messages);
  if (Buffer.byteLength(sentMessages) > INPUT_LIMITS.bytes)
    throw new HttpError(
      413,
      `The messages of this chat, files included, are larger than ${INPUT_LIMITS.bytes / 1e6} MB. Send smaller files, or URLs.`,
      { path: 'messages' },
    );
  return {
    chatId: required(fields, 'id', chatId),
    messages,
    sentMessages,
    trigger: 'submit-message',
    ...optional(fields, 'trigger', oneOf(['submit-message', 'regenerate-message'] as const)),
    ...optional(fields, 'model', identifier(MAX_NAME)),
    ...optional(fields, 'instructions', text(MAX_INSTRUCTIONS)),
    ...optional(fields, 'tools', listOf(MAX_TOOLS, text(MAX_NAME))),
    ...optional(fields, 'compaction', requestedCompaction),
    ...optional(fields, 'streamArguments', boolean),
  };
}

/** @throws LLMInvalidRequestError */
export function chatId(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[^\p{C}]{1,256}$/u.test(value)) return value;
  throw invalid(path, 'must be the id of a chat: 1 to 256 visible characters');
}
