/** Where tools live and run. */
import type { FunctionTool } from '../entities/Tool';

export interface ToolCallContext {
  /** Fires when the call times out or its run ends. */
  readonly signal: AbortSignal;
  readonly userId: string;
  readonly callId: string;
  readonly executionId: string;
  /** The same for every attempt at this call, across crashes. */
  readonly idempotencyKey: string;
  /** `fraction` from 0 to 1. */
  readonly progress: (fraction: number, note?: string) => void;
}

export interface IToolExecutor {
  /** Runs the tool; `args` have been validated. What it gives is serialised by the caller. */
  execute(toolName: string, args: unknown, context: ToolCallContext): unknown;
  hasToolFunction(toolName: string): boolean;
  getToolDefinition(toolName: string): FunctionTool | undefined;
}
