/** Connects tool handling to a vendor's own chat session, for callers that need nothing else of Bolide. */
import type { ToolResult } from '../entities/Tool';

export interface NativeToolCall {
  readonly call_id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface ToolAdapter<Response, Message> {
  /** The calls of the application's tools in a response, in order. Tools that the vendor's server runs are excluded. */
  getToolCalls(response: Response): readonly NativeToolCall[];
  /** Adds the model's turn to the session, unchanged. */
  recordAssistantMessage(response: Response): void;
  buildToolResponseMessage(result: ToolResult, name: string): Message;
  /** Adds all results of a turn to the session and returns the model's next turn. */
  sendToolResponses(messages: readonly Message[], signal: AbortSignal): Promise<Response>;
}
