/**
 * Tool handling for a chat of one of Google's SDKs, which stores its own history: a `ChatSession` of
 * `@google/generative-ai`, or a `Chat` of `@google/genai`.
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import type { GenerateContentResult } from '@google/generative-ai';
import { isObject, jsonOrText } from '../../../domain/util/json';
import type { ToolResult } from '../../../domain/entities/Tool';
import type { NativeToolCall, ToolAdapter } from '../../../domain/interfaces/ToolAdapter';

/** A chat of either SDK. */
export interface GeminiChat<Response> {
  sendMessage(request: never, options?: never): Promise<Response>;
}

interface GeminiCall {
  /** The id that newer models assign. */
  readonly id?: string;
  readonly name?: string;
  readonly args?: object;
}

export type GeminiResponse =
  | { readonly response: { functionCalls(): readonly GeminiCall[] | undefined } }
  | { readonly functionCalls?: readonly GeminiCall[] | undefined; readonly candidates?: unknown };

export interface GeminiResponsePart {
  readonly functionResponse: { readonly id?: string; readonly name: string; readonly response: object };
}

export class GeminiAdapter<Response extends GeminiResponse = GenerateContentResult> implements ToolAdapter<
  Response,
  GeminiResponsePart
> {
  private readonly session: GeminiChat<Response>;
  /** Ids that the model assigned, as opposed to ours. */
  private readonly wireIds = new Set<string>();
  /** Whether the chat is a `ChatSession`, as its responses show. */
  private isSession = false;

  constructor(session: GeminiChat<Response>) {
    this.session = session;
  }

  /**
   * Older models assign no ids: name and index then distinguish the calls, and responses are matched by name and
   * order.
   */
  getToolCalls(result: Response): readonly NativeToolCall[] {
    this.isSession = 'response' in result;
    const calls = ('response' in result ? result.response.functionCalls() : result.functionCalls) ?? [];
    return calls.map(({ id, name = '', args }, index) => {
      const hasWireId = typeof id === 'string' && id !== '';
      if (hasWireId) this.wireIds.add(id);
      return {
        call_id: hasWireId ? id : `${name}:${index}`,
        name,
        // The API omits empty arguments.
        arguments: JSON.stringify(args ?? {}),
      };
    });
  }

  recordAssistantMessage(): void {
    // The session records the model's turn itself.
  }

  buildToolResponseMessage(result: ToolResult, name: string): GeminiResponsePart {
    const functionResponse = {
      ...(this.wireIds.has(result.call_id) ? { id: result.call_id } : {}),
      name,
      response: result.error === undefined ? asObject(result.content) : { error: result.error.message },
    };
    return { functionResponse };
  }

  async sendToolResponses(parts: readonly GeminiResponsePart[], signal: AbortSignal): Promise<Response> {
    const message = [...parts];
    if (this.isSession) return this.session.sendMessage(message as never, { signal } as never);
    // Boundary: the configuration of a request replaces that of the chat, which has it in a private field.
    const { config } = this.session as { readonly config?: object };
    const request = config === undefined ? { message } : { message, config: { ...config, abortSignal: signal } };
    return this.session.sendMessage(request as never);
  }
}

/** The API accepts only objects; any other result is wrapped as `result`. */
function asObject(content: string): object {
  const value = jsonOrText(content);
  return isObject(value) ? value : { result: value };
}
