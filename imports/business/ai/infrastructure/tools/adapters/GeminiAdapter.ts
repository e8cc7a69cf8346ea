/**
 * Tool handling for a chat session of Google's SDK, which stores its own history.
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import type { ChatSession, FunctionCall, FunctionResponsePart, GenerateContentResult } from '@google/generative-ai';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';

/** The SDK's type lacks the id that newer models assign. */
type CallWithId = FunctionCall & { readonly id?: unknown };

export class GeminiAdapter implements ToolAdapter<GenerateContentResult, FunctionResponsePart> {
  private readonly session: ChatSession;
  /** Ids that the model assigned, as opposed to ours. */
  private readonly wireIds = new Set<string>();

  constructor(session: ChatSession) {
    this.session = session;
  }

  /**
   * Older models assign no ids: name and index then distinguish the calls, and responses are matched by name and
   * order.
   */
  getToolCalls(result: GenerateContentResult): readonly NativeToolCall[] {
    const calls: readonly CallWithId[] = result.response.functionCalls() ?? [];
    return calls.map(({ id, name, args }, index) => {
      const hasWireId = typeof id === 'string' && id !== '';
      if (hasWireId) this.wireIds.add(id);
      return {
        call_id: hasWireId ? id : `${name}:${index}`,
        name,
        // The API omits empty arguments.
        arguments: JSON.stringify((args as object | undefined) ?? {}),
      };
    });
  }

  recordAssistantMessage(): void {
    // The session records the model's turn itself.
  }

  buildToolResponseMessage(result: ToolResult, name: string): FunctionResponsePart {
    const functionResponse = {
      ...(this.wireIds.has(result.call_id) ? { id: result.call_id } : {}),
      name,
      response: result.error === undefined ? asObject(result.content) : { error: result.error.message },
    };
    return { functionResponse };
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
