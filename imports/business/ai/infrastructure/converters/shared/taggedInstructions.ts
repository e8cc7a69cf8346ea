/** Instructions in the middle of a history, or in place of one, for wires that take them only at its start. */
import { inputText } from '../../../domain/entities/Content';
import type { MessageItem } from '../../../domain/types/ResponsesAPITypes';
import type { Loss } from '../../../domain/types/VendorTypes';

const tagged = new WeakMap<MessageItem, MessageItem>();

/**
 * Converts instructions in the middle of a history to a user message between tags, so that the model can distinguish
 * them from the user's own text.
 */
export function asUserText(item: MessageItem): MessageItem {
  let message = tagged.get(item);
  if (message === undefined) {
    const content = [
      inputText(`<${item.role}_instructions>`),
      ...item.content,
      inputText(`</${item.role}_instructions>`),
    ];
    message = { type: 'message', role: 'user', content };
    tagged.set(item, message);
  }
  return message;
}

/** The user's message where instructions are the entire input, since Anthropic and Google require a message. */
export const FOLLOW_INSTRUCTIONS = '(Follow the instructions.)';

export const ONLY_INSTRUCTIONS: Loss = {
  path: 'input',
  what: 'input of instructions only',
  reason: 'A request must have a message, so one of the user is added.',
};
