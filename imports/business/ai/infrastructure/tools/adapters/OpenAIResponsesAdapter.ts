/**
 * Tool handling for a Responses conversation that the caller holds as items.
 * https://platform.openai.com/docs/guides/function-calling
 */
import type { OpenAI } from 'openai';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseInputItem;
type Request = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream' | 'input'> & { readonly input: Item[] };
type ToolResponse = OpenAI.Responses.ResponseInputItem.FunctionCallOutput;

export class OpenAIResponsesAdapter implements ToolAdapter<Response, ToolResponse> {
  private readonly client: OpenAI;
  private readonly request: Request;

  /** @param request its `input` array is the session and grows with every turn */
  constructor(client: OpenAI, request: Request) {
    this.client = client;
    this.request = request;
  }

  getToolCalls(response: Response): readonly NativeToolCall[] {
    return response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ call_id: item.call_id, name: item.name, arguments: item.arguments }] : [],
    );
  }

  recordAssistantMessage(response: Response): void {
    // The API accepts its own output as input, item by item. The SDK's two unions differ only in fields that one of
    // them requires.
    this.request.input.push(...(response.output as Item[]));
  }

  buildToolResponseMessage(result: ToolResult): ToolResponse {
    return { type: 'function_call_output', call_id: result.call_id, output: result.content };
  }

  async sendToolResponses(messages: readonly ToolResponse[], signal: AbortSignal): Promise<Response> {
    this.request.input.push(...messages);
    return this.client.responses.create({ ...this.request, stream: false }, { signal });
  }
}
