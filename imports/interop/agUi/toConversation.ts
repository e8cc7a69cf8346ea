/** What an AG-UI client sends as the input of a run: its messages as items, and its system messages as instructions. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { InputContent, Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { AgUiContentPart, AgUiMessage, AgUiPartSource, RunAgentInput } from './AgUiMessages';
import { itemsOfMessage, toCallId } from './turnItems';

export interface AgUiConversation {
  readonly items: readonly Item[];
  /** Absent if the client gave neither system messages nor context. */
  readonly instructions?: string;
}

/** What the model is told about a call whose result the client never sent. */
const UNANSWERED = 'Error: The call was abandoned.';

/** @throws LLMInvalidRequestError with the path of the message */
export function toConversation({
  messages: shown,
  context,
}: Pick<RunAgentInput, 'messages' | 'context'>): AgUiConversation {
  // Subagents have conversations of their own.
  const messages = shown.filter(({ subagentRunId }) => subagentRunId === undefined);
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  const items = messages.flatMap((message, index) => toItems(message, `messages[${index}]`, answered));
  const instructions = [
    ...messages.flatMap(({ role, content }) =>
      (role === 'system' || role === 'developer') && typeof content === 'string' ? [content] : [],
    ),
    ...context.map(({ description, value }) => `${description}: ${value}`),
  ].join('\n\n');
  return { items, ...(instructions === '' ? {} : { instructions }) };
}

function toItems(message: AgUiMessage, path: string, answered: ReadonlySet<string>): readonly Item[] {
  switch (message.role) {
    case 'user':
      return [toUserItem(message, path)];
    case 'assistant': {
      const { content = '', toolCalls = [] } = message;
      const items = itemsOfMessage(message) ?? [
        ...(content === '' ? [] : [assistantText(content)]),
        ...toolCalls.map(({ id, function: called }): Item => ({
          type: 'function_call',
          call_id: toCallId(id),
          name: called.name,
          arguments: called.arguments,
        })),
      ];
      const abandoned = toolCalls.filter(({ id }) => !answered.has(id));
      return [
        ...items,
        ...abandoned.map(({ id }): Item => ({
          type: 'function_call_output',
          call_id: toCallId(id),
          output: UNANSWERED,
        })),
      ];
    }
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: toCallId(message.toolCallId),
          output: typeof message.content === 'string' ? message.content : toParts(message.content, path),
        },
      ];
    // Instructions are given separately. Reasoning reaches the model again with the items of its assistant message.
    case 'system':
    case 'developer':
    case 'reasoning':
    case 'activity':
      return [];
  }
}

/** @throws LLMInvalidRequestError with the path of the part */
export function toUserItem({ content }: Extract<AgUiMessage, { readonly role: 'user' }>, path: string): Item {
  return { type: 'message', role: 'user', content: toParts(content, path) };
}

function assistantText(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] };
}

function toParts(content: string | readonly AgUiContentPart[], path: string): readonly InputContent[] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return content.map((part, index) => toPart(part, `${path}.content[${index}]`));
}

function toPart(part: AgUiContentPart, path: string): InputContent {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return part.source.type === 'file'
        ? { type: 'input_image', file_id: part.source.value }
        : { type: 'input_image', image_url: toUrl(part.source) };
    case 'document':
      return toFile(part.source);
    case 'audio':
    case 'video':
      throw new LLMInvalidRequestError(
        `"${path}" is ${part.type}, which models do not accept here. Send text, images or documents.`,
        { path },
      );
  }
}

function toFile(source: AgUiPartSource): InputContent {
  if (source.type === 'file') return { type: 'input_file', file_id: source.value };
  return source.type === 'data'
    ? { type: 'input_file', file_data: toUrl(source) }
    : { type: 'input_file', file_url: source.value };
}

function toUrl(source: Exclude<AgUiPartSource, { readonly type: 'file' }>): string {
  return source.type === 'url' ? source.value : `data:${source.mimeType};base64,${source.value}`;
}
