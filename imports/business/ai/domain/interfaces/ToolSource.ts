/** Tools that come and go while the program runs, such as those of an MCP server. */
import type { FunctionTool } from '../entities/Tool';
import type { HostedMcpTool } from '../types/HostedMcp';
import type { ToolCallContext } from './IToolExecutor';

/** A tool with its function, unless its `kind` needs none. */
export interface SourceTool extends Omit<FunctionTool, 'type'> {
  readonly execute?: (args: unknown, context: ToolCallContext) => unknown;
  /** The tool as a vendor may call it itself. Undefined, also if absent: Bolide calls it. */
  readonly hosted?: () => HostedMcpTool | undefined;
}

export interface ToolSource {
  /** Identifies the source in logs and errors. */
  readonly name: string;
  /**
   * The tools there are now. A source that cannot be reached rejects; the tools that it listed before stay registered
   * then.
   */
  list(): Promise<readonly SourceTool[]>;
  /**
   * Calls back when the tools may have changed.
   * @returns ends the subscription
   */
  onChange(listener: () => void): () => void;
  /** Ends everything the source holds: connections, processes, timers. Safe to call again. */
  close(): Promise<void>;
}
