/** Reads a Chat Completions request as a conversation. */
import { asArray, asObject, asString, objectsIn } from '../../json';
import type { Conversation, ToolDefinition, ToolChoice, Turn } from '../../model/Conversation';
import type { WireRequest } from '../WireSimulator';
import { chatBody, textOf } from './chatBody';
import type { ChatBody, ChatMessage } from './chatBody';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export function readChat({ vendor, model, body: raw }: WireRequest): Conversation {
  const body = chatBody(raw);
  const outputSchema = outputSchemaOf(body);
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens;
  return omitUndefined({
    vendor,
    wire: 'chat_completions',
    model,
    instructions: body.messages
      .filter((message) => message.role === 'system' || message.role === 'developer')
      .map(textOf)
      .join('\n'),
    turns: turnsOf(body.messages),
    tools: (body.tools ?? []).flatMap(toToolDefinition),
    toolChoice: toolChoiceOf(body),
    allowsParallelCalls: body.parallel_tool_calls !== false,
    wantsReasoning: isGivenEffort(body.reasoning_effort),
    outputSchema,
    maxOutputTokens: typeof maxOutputTokens === 'number' ? maxOutputTokens : undefined,
  });
}

function turnsOf(messages: readonly ChatMessage[]): readonly Turn[] {
  const names = new Map(
    messages.flatMap((message) => (message.tool_calls ?? []).map((call) => [call.id, nameOf(call)] as const)),
  );
  return messages.flatMap((message): Turn[] => {
    switch (message.role) {
      case 'user':
        return [{ type: 'user', text: textOf(message) }];
      case 'assistant': {
        const text = textOf(message);
        const messageTurns: Turn[] = text === '' ? [] : [{ type: 'assistant', text }];
        const calls = (message.tool_calls ?? []).map((call): Turn => ({
          type: 'call',
          id: call.id,
          name: nameOf(call),
          arguments: call.function?.arguments ?? call.custom?.input ?? '',
        }));
        return [...messageTurns, ...calls];
      }
      case 'tool': {
        const callId = message.tool_call_id ?? '';
        return [
          { type: 'result', callId, name: names.get(callId) ?? 'the tool', text: textOf(message), failed: false },
        ];
      }
      default:
        return [];
    }
  });
}

function nameOf(call: NonNullable<ChatMessage['tool_calls']>[number]): string {
  return call.function?.name ?? call.custom?.name ?? '';
}

function toToolDefinition(tool: NonNullable<ChatBody['tools']>[number]): ToolDefinition[] {
  if (tool.function === undefined) return [];
  const { name, description, parameters } = tool.function;
  return [{ name, description: description ?? '', parameters: parameters ?? {}, async: false }];
}

/** `auto`, `none`, `required`, one function, or `allowed_tools`. */
function toolChoiceOf({ tool_choice: choice }: ChatBody): ToolChoice {
  if (choice === 'none' || choice === 'required') return { mode: choice };
  if (typeof choice !== 'object' || choice === null) return { mode: 'auto' };
  if (choice.type !== 'allowed_tools') return { mode: 'required', names: [asString(asObject(choice.function).name)] };
  const allowed = asObject(choice.allowed_tools);
  const names = objectsIn(asArray(allowed.tools)).map((tool) => asString(asObject(tool.function).name));
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names };
}

function outputSchemaOf({ response_format: format }: ChatBody): Conversation['outputSchema'] {
  if (format?.type === 'json_object') return {};
  return format?.type === 'json_schema' ? (format.json_schema?.schema ?? {}) : undefined;
}

function isGivenEffort(effort: string | null | undefined): boolean {
  return effort !== undefined && effort !== null && effort !== 'none';
}
