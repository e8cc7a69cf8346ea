/** A bridge to a vendor's own chat session, for callers that want only the tool handling. */
import type { ToolResult } from '../entities/Tool';

export interface NativeToolCall {
  readonly call_id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface ToolAdapter<Response, Message> {
  /** The calls of our tools in an answer, in order; the vendor's own server tools are not among them. */
  getToolCalls(response: Response): readonly NativeToolCall[];
  /** Adds the model's turn to the session, unchanged. */
  recordAssistantMessage(response: Response): void;
  buildToolResponseMessage(result: ToolResult, name: string): Message;
  /** Adds all answers of a turn to the session and gives the model's next turn. */
  sendToolResponses(messages: readonly Message[], signal: AbortSignal): Promise<Response>;
}
