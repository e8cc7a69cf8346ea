/** Decides about a server's tools at run time. */
import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolSettings } from './McpServerSettings';

export interface McpToolPolicy {
  /** Is told which tools the server lists that could be offered. @returns those that may be */
  review(tools: readonly Tool[]): readonly Tool[];
  /** Beside what the settings say, which it overrides. @param name the server's name of the tool */
  settingsOf(name: string): McpToolSettings;
  /** Before each call. @throws ToolError if the tool may not be called as it was listed */
  assertPermitted(tool: Tool): void;
}
