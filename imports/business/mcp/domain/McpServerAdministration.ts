/** What admins do with MCP servers. Who may do it is checked before. */
import type { McpToolSwitches } from './McpServer';
import type { McpServerDetail, McpServerTest, McpServerView } from './McpViews';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

export interface McpServerAdministration {
  list(): Promise<readonly McpServerView[]>;
  /** @throws LLMInvalidRequestError if there is no such server */
  get(name: string): Promise<McpServerDetail>;
  /**
   * Adds a server, or replaces the one of that name.
   * @param fields unchecked
   * @throws LLMInvalidRequestError whose `path` names the field, ConflictError if it was changed meanwhile
   */
  save(name: string, fields: JsonObject, by: string): Promise<McpServerView>;
  setEnabled(name: string, enabled: boolean, by: string): Promise<McpServerView>;
  remove(name: string): Promise<boolean>;
  /** Connects to what `save` would store, and stores nothing. @throws LLMConnectionError */
  test(name: string, fields: JsonObject): Promise<McpServerTest>;
  /** Connects anew, in this process. Resolves with the result. */
  reconnect(name: string): Promise<McpServerDetail>;
  /** @throws ConflictError if a tool's definition is not the one with that hash any more */
  approve(
    name: string,
    tools: readonly { readonly tool: string; readonly hash: string }[],
    by: string,
  ): Promise<McpServerDetail>;
  /** Switches of an approved tool; null returns to the default. */
  setTool(name: string, tool: string, switches: ChangedSwitches, by: string): Promise<McpServerDetail>;
}

export type ChangedSwitches = { readonly [S in keyof McpToolSwitches]?: McpToolSwitches[S] | null | undefined };
