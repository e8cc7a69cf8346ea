/**
 * Tool handling for a Messages conversation that the caller holds.
 * https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview
 */
import type { Anthropic } from '@anthropic-ai/sdk';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';
import { omitUndefined } from '../../../domain/util/omitUndefined';

type Message = Anthropic.Message;
type Request = Omit<Anthropic.MessageCreateParamsNonStreaming, 'stream'>;
type ToolResponse = Anthropic.ToolResultBlockParam;

export class AnthropicAdapter implements ToolAdapter<Message, ToolResponse> {
  private readonly client: Anthropic;
  private readonly request: Request;

  /** @param request its `messages` array is the session and grows with every turn */
  constructor(client: Anthropic, request: Request) {
    this.client = client;
    this.request = request;
  }

  getToolCalls(message: Message): readonly NativeToolCall[] {
    return message.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ call_id: block.id, name: block.name, arguments: JSON.stringify(block.input) }]
        : [],
    );
  }

  recordAssistantMessage(message: Message): void {
    this.request.messages.push({ role: 'assistant', content: message.content });
  }

  buildToolResponseMessage(result: ToolResult): ToolResponse {
    return omitUndefined({
      type: 'tool_result',
      tool_use_id: result.call_id,
      content: result.content,
      is_error: result.error === undefined ? undefined : true,
    });
  }

  /** All results of a turn must be in one user message. */
  async sendToolResponses(responses: readonly ToolResponse[], signal: AbortSignal): Promise<Message> {
    this.request.messages.push({ role: 'user', content: [...responses] });
    return this.client.messages.create({ ...this.request, stream: false }, { signal });
  }
}
