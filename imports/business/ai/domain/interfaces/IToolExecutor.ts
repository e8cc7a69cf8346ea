/** Provides tool definitions and runs the tools. */
import type { FunctionTool } from '../entities/Tool';

export interface ToolCallContext {
  /** Fires when the call times out or its run ends. */
  readonly signal: AbortSignal;
  readonly userId: string;
  readonly callId: string;
  readonly executionId: string;
  /** The same for every attempt at this call, including attempts after a crash. */
  readonly idempotencyKey: string;
  /** Reports progress. `fraction` from 0 to 1; `note` is cut to 500 characters. */
  readonly progress: (fraction: number, note?: string) => void;
}

export interface IToolExecutor {
  /**
   * Runs the tool with validated arguments. It may return a value or a promise, which the caller serializes;
   * whatever it throws fails the call.
   */
  execute(toolName: string, args: unknown, context: ToolCallContext): unknown;
  hasToolFunction(toolName: string): boolean;
  getToolDefinition(toolName: string): FunctionTool | undefined;
  /** Whether tools may appear later, so that runs wait for those that are missing. Default: false. */
  readonly gainsTools?: boolean;
}
