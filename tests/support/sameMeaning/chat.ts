/**
 * Normalizes chat completions requests, so that equivalent ones compare equal: a string for a single text part, one
 * stop sequence for a list of one, an omitted type of a choice that can have no other, an explicit default. All other
 * differences remain.
 */
import type { JsonObject, VendorQuirks } from '../../../imports/business/ai/domain/types/VendorTypes';

const LIMITS = ['max_tokens', 'max_completion_tokens'];

/** https://platform.openai.com/docs/api-reference/chat/create */
export function meaningOfChatRequest(body: JsonObject, quirks: VendorQuirks): JsonObject {
  const { messages, stop, stream, tool_choice, ...rest } = body;
  const meaning: JsonObject = { messages: (messages as readonly JsonObject[]).map(meaningOfMessage) };
  for (const [field, value] of Object.entries(rest))
    meaning[LIMITS.includes(field) ? quirks.maxTokensField : field] = value;
  if (stop !== undefined) meaning.stop = typeof stop === 'string' ? [stop] : stop;
  if (stream !== undefined && stream !== false) meaning.stream = stream;
  if (tool_choice !== undefined)
    meaning.tool_choice = isChoiceOfFunction(tool_choice) ? { type: 'function', ...tool_choice } : tool_choice;
  return meaning;
}

function meaningOfMessage(message: JsonObject): JsonObject {
  return typeof message.content === 'string'
    ? { ...message, content: [{ type: 'text', text: message.content }] }
    : message;
}

function isChoiceOfFunction(choice: unknown): choice is JsonObject {
  return typeof choice === 'object' && choice !== null && 'function' in choice;
}
