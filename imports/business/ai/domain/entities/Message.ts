/** Makers of items. */
import { inputText, outputText } from './Content';
import type { Content, InputContent, MessageItem } from '../types/ResponsesAPITypes';

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
