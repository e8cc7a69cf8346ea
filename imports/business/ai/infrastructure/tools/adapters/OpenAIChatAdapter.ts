/**
 * Tool handling for a Chat Completions conversation that the caller holds.
 * https://platform.openai.com/docs/guides/function-calling?api-mode=chat
 */
import type { OpenAI } from 'openai';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';

type Completion = OpenAI.Chat.Completions.ChatCompletion;
type Request = Omit<OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming, 'stream'>;
type ToolResponse = OpenAI.Chat.Completions.ChatCompletionToolMessageParam;

export class OpenAIChatAdapter implements ToolAdapter<Completion, ToolResponse> {
  private readonly client: OpenAI;
  private readonly request: Request;

  /** @param request its `messages` array is the session and grows with every turn */
  constructor(client: OpenAI, request: Request) {
    this.client = client;
    this.request = request;
  }

  getToolCalls(completion: Completion): readonly NativeToolCall[] {
    const calls = completion.choices[0]?.message.tool_calls ?? [];
    return calls.flatMap((call) =>
      call.type === 'function'
        ? [{ call_id: call.id, name: call.function.name, arguments: call.function.arguments }]
        : [],
    );
  }

  recordAssistantMessage(completion: Completion): void {
    const message = completion.choices[0]?.message;
    if (message !== undefined) this.request.messages.push(message);
  }

  buildToolResponseMessage(result: ToolResult): ToolResponse {
    return { role: 'tool', tool_call_id: result.call_id, content: result.content };
  }

  async sendToolResponses(messages: readonly ToolResponse[], signal: AbortSignal): Promise<Completion> {
    this.request.messages.push(...messages);
    return this.client.chat.completions.create({ ...this.request, stream: false }, { signal });
  }
}
