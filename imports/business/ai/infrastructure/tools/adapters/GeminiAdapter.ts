/**
 * Tool handling for a chat session of Google's SDK, which stores its own history.
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import type { ChatSession, FunctionResponsePart, GenerateContentResult } from '@google/generative-ai';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';

export class GeminiAdapter implements ToolAdapter<GenerateContentResult, FunctionResponsePart> {
  private readonly session: ChatSession;

  constructor(session: ChatSession) {
    this.session = session;
  }

  /** Gemini's calls have no ids: name and index distinguish them, and responses are matched by name and order. */
  getToolCalls(result: GenerateContentResult): readonly NativeToolCall[] {
    const calls = result.response.functionCalls() ?? [];
    return calls.map((call, index) => ({
      call_id: `${call.name}:${index}`,
      name: call.name,
      arguments: JSON.stringify(call.args),
    }));
  }

  recordAssistantMessage(): void {
    // The session records the model's turn itself.
  }

  buildToolResponseMessage(result: ToolResult, name: string): FunctionResponsePart {
    return {
      functionResponse: {
        name,
        response: result.error === undefined ? asObject(result.content) : { error: result.error.message },
      },
    };
  }

  async sendToolResponses(parts: readonly FunctionResponsePart[], signal: AbortSignal): Promise<GenerateContentResult> {
    return this.session.sendMessage([...parts], { signal });
  }
}

/** The API accepts only objects; any other result is wrapped as `result`. */
function asObject(content: string): object {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { result: value };
  } catch {
    // A result may be plain text.
    return { result: content };
  }
}
