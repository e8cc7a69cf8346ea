/**
 * Reads the messages of a client's chat completions request as items. Fields without a domain equivalent are preserved
 * verbatim under `vendor.openai`. https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import { splitAssistantMessage } from '../response/assistantItems';
import { fromChatPart } from '../contentParts';
import { isText, vendorFieldsOf, without, withVendorFields } from '../vendorFields';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallOutputItem,
  HostedItem,
  InputContent,
  InputItem,
  MessageItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** @throws LLMInvalidRequestError with the JSON path of the invalid value */
export function readMessages(messages: readonly unknown[]): InputItem[] {
  const reader = new MessageReader();
  messages.forEach((message, index) => reader.add(message, `messages[${index}]`));
  return reader.items;
}

class MessageReader {
  readonly items: InputItem[] = [];
  private readonly customCalls = new Set<string>();
  private legacyCall: { readonly id: string; readonly name: string } | undefined;
  private afterAssistant = false;

  add(message: unknown, path: string): void {
    if (!isObject(message)) throw invalid(path, 'must be a message object');
    const { role } = message;
    if (role === 'assistant') this.addAssistant(message, path);
    else if (role === 'tool') this.items.push(this.toolResult(message, path));
    else if (role === 'function') this.items.push(this.functionResult(message, path));
    else if (role === 'user' || role === 'system' || role === 'developer')
      this.items.push(plainMessage(message, role, path));
    else throw invalid(`${path}.role`, 'must be developer, system, user, assistant, tool or function');
    this.afterAssistant = role === 'assistant';
  }

  private addAssistant(message: JsonObject, path: string): void {
    const split = splitAssistantMessage(message, {
      origin: { wire: 'chat_completions' },
      callId: (index) => `${path}.${index}`,
    });
    const fields = without(split.rest, ['role']);
    const [first, ...others] = split.items;
    if (first === undefined) return;
    // Message fields preserve two consecutive assistant messages, and how a message with only calls wrote its content.
    const needsMessageFields = this.afterAssistant || !split.hasMessageItem || !isEmpty(fields);
    this.items.push(
      needsMessageFields
        ? { ...first, vendor: { ...first.vendor, openai: { ...vendorFieldsOf(first), message: fields } } }
        : first,
      ...others,
    );
    for (const item of split.items) {
      if (item.type === 'custom_tool_call' && isText(item.call_id)) this.customCalls.add(item.call_id);
      if (item.type === 'function_call' && isObject(message.function_call))
        this.legacyCall = { id: item.call_id, name: item.name };
    }
  }

  private toolResult(message: JsonObject, path: string): FunctionCallOutputItem | HostedItem {
    const { tool_call_id } = message;
    if (!isText(tool_call_id)) throw invalid(`${path}.tool_call_id`, 'must be the id of a tool call');
    const output = outputOf(message, path);
    const vendorFields = withVendorFields(otherFields(message, ['role', 'tool_call_id']), undefined);
    if (this.customCalls.has(tool_call_id) && typeof output === 'string')
      return { type: 'custom_tool_call_output', call_id: tool_call_id, output, ...vendorFields };
    return { type: 'function_call_output', call_id: tool_call_id, output, ...vendorFields };
  }

  /** Results in the deprecated form name the function, not the call. */
  private functionResult(message: JsonObject, path: string): FunctionCallOutputItem {
    const { name } = message;
    if (!isText(name)) throw invalid(`${path}.name`, 'must be the name of a function');
    const call_id = this.legacyCall?.name === name ? this.legacyCall.id : `${path}.call`;
    const fields = otherFields(message, ['role', 'name']);
    return {
      type: 'function_call_output',
      call_id,
      name,
      output: outputOf(message, path),
      ...withVendorFields({ ...fields, legacy: true }, undefined),
    };
  }
}

function plainMessage(message: JsonObject, role: 'user' | 'system' | 'developer', path: string): MessageItem {
  return {
    type: 'message',
    role,
    content: contentOf(message, path),
    ...withVendorFields(otherFields(message, ['role']), undefined),
  };
}

/** The message's other fields, including an absent or null `content`. */
function otherFields(message: JsonObject, keys: readonly string[]): JsonObject {
  const hasContent = typeof message.content === 'string' || isList(message.content);
  const fields = without(message, hasContent ? [...keys, 'content'] : keys);
  return isEmpty(fields) ? {} : { message: fields };
}

function outputOf(message: JsonObject, path: string): string | readonly InputContent[] {
  return typeof message.content === 'string' ? message.content : contentOf(message, path);
}

function contentOf({ content }: JsonObject, path: string): InputContent[] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  if (content === undefined || content === null) return [];
  if (!isList(content)) throw invalid(`${path}.content`, 'must be a string or an array of parts');
  return content.map((part, index) => {
    if (!isObject(part) || !isText(part.type)) throw invalid(`${path}.content[${index}]`, 'must be a part with a type');
    const read = fromChatPart(part);
    // The empty vendor part distinguishes a content part from a plain string when the message is written again.
    return read.vendor === undefined ? { ...read, vendor: { openai: {} } } : read;
  });
}

function invalid(path: string, what: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${path}" ${what}.`, { path });
}
