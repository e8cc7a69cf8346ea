/** Reads a Messages request as a conversation. */
import type { Conversation, ToolDefinition, ToolChoice, Turn } from '../../model/Conversation';
import type { WireRequest } from '../WireSimulator';
import { namesLoadedBy } from '../../model/PromptCache';
import {
  anthropicBody,
  blocksOf,
  isDeferred,
  mergedMessages,
  resultText,
  textsIn,
  isThinkingEnabled,
  outputSchema,
} from './anthropicBody';
import type { AnthropicBody, AnthropicTool, MergedMessage } from './anthropicBody';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export function readAnthropic({ vendor, model, body: raw }: WireRequest): Conversation {
  const body = anthropicBody(raw);
  const schema = outputSchema(body);
  return omitUndefined({
    vendor,
    wire: 'anthropic_messages',
    model,
    instructions: typeof body.system === 'string' ? body.system : textsIn(body.system),
    turns: turnsOf(mergedMessages(body.messages)),
    tools: loadedTools(body).flatMap(toToolDefinition),
    toolChoice: toolChoiceOf(body),
    allowsParallelCalls: body.tool_choice?.disable_parallel_tool_use !== true,
    wantsReasoning: isThinkingEnabled(body),
    maxOutputTokens: body.max_tokens,
    outputSchema: schema,
  });
}

/** The text blocks of one message become one turn. */
function turnsOf(messages: readonly MergedMessage[]): readonly Turn[] {
  const names = new Map(
    messages.flatMap((message) =>
      message.blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.name] as const] : [])),
    ),
  );
  return messages.flatMap((message): Turn[] => {
    const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const summaries = message.blocks.flatMap((block): Turn[] =>
      block.type === 'compaction' && typeof block.content === 'string' ? [{ type: 'user', text: block.content }] : [],
    );
    const turns = message.blocks.flatMap((block): Turn[] => {
      if (block.type === 'tool_use')
        return [{ type: 'call', id: block.id, name: block.name, arguments: JSON.stringify(block.input) }];
      if (block.type !== 'tool_result') return [];
      const { tool_use_id: callId, content, is_error } = block;
      return [
        {
          type: 'result',
          callId,
          name: names.get(callId) ?? 'the tool',
          text: resultText(content),
          failed: is_error === true,
        },
      ];
    });
    if (text === '') return [...summaries, ...turns];
    return message.role === 'user'
      ? [...turns, { type: 'user', text }]
      : [...summaries, { type: 'assistant', text }, ...turns];
  });
}

/** Deferred tools are loaded where the conversation names them. */
export function loadedTools({ tools, messages }: AnthropicBody): readonly AnthropicTool[] {
  const all = tools ?? [];
  if (!all.some(isDeferred)) return all;
  const named = new Set(messages.flatMap((message) => blocksOf(message).flatMap(namesLoadedBy)));
  const found = [...named].flatMap((name) => all.filter((tool) => isDeferred(tool) && tool.name === name));
  return [...all.filter((tool) => !isDeferred(tool)), ...found];
}

/** Tools without an input schema run on the vendor's side. */
function toToolDefinition(tool: AnthropicTool): ToolDefinition[] {
  if (tool.input_schema === undefined) return [];
  return [{ name: tool.name, description: tool.description ?? '', parameters: tool.input_schema, async: false }];
}

function toolChoiceOf({ tool_choice: choice }: AnthropicBody): ToolChoice {
  if (choice?.type === 'none') return { mode: 'none' };
  if (choice?.type === 'any') return { mode: 'required' };
  return choice?.type === 'tool' && choice.name !== undefined
    ? { mode: 'required', names: [choice.name] }
    : { mode: 'auto' };
}
