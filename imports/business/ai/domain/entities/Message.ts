/** Creates message items, and makes items safe to send back. */
export { ContentType, MessageRole } from '../types/ResponsesAPITypes';
import { inputText, outputText } from './Content';
import type { Content, InputContent, Item, MessageItem } from '../types/ResponsesAPITypes';

export function userMessage(content: string | readonly InputContent[]): MessageItem {
  return { type: 'message', role: 'user', content: typeof content === 'string' ? [inputText(content)] : content };
}

export function developerMessage(text: string): MessageItem {
  return { type: 'message', role: 'developer', content: [inputText(text)] };
}

export function assistantMessage(content: string | readonly Content[]): MessageItem {
  return {
    type: 'message',
    role: 'assistant',
    content: typeof content === 'string' ? [outputText(content)] : content,
    status: 'completed',
  };
}

/**
 * Replaces lone surrogates: models cut text in the middle of a character, and no vendor accepts such text back.
 * @returns the item itself if its text is well-formed
 */
export function wellFormedItem<T extends Item>(item: T): T {
  if (isWellFormed(item)) return item;
  const repair = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);
  return JSON.parse(JSON.stringify(item), repair) as T;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  // Several times as fast as a loop over the properties themselves.
  for (const key of Object.keys(value)) if (!isWellFormed(value[key as keyof typeof value])) return false;
  return true;
}
