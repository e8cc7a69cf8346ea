/** Stores the MCP servers that admins add at run time, for all processes. */
import type { McpToolDefinition, StoredMcpServer } from './McpServer';

export interface McpServerStore {
  /** The revision of each server, by name. */
  revisions(): Promise<ReadonlyMap<string, string>>;
  find(name: string): Promise<StoredMcpServer | undefined>;
  /** @throws ConflictError if there is one of that name */
  insert(server: StoredMcpServer): Promise<void>;
  /**
   * Replaces the server of that name, secrets included, if its revision is still the expected one.
   * @returns false if it is not
   */
  replace(server: StoredMcpServer, expectedRevision: string): Promise<boolean>;
  /** Has all processes look at the server again: gives it another revision. */
  touch(name: string): Promise<void>;
  /** With its definitions. @returns whether there was one */
  remove(name: string): Promise<boolean>;
  /** The definitions that were approved, by their hash. */
  definitions(name: string): Promise<ReadonlyMap<string, McpToolDefinition>>;
  saveDefinitions(name: string, definitions: ReadonlyMap<string, McpToolDefinition>): Promise<void>;
  removeDefinitions(name: string, hashes: readonly string[]): Promise<void>;
  /** Seals all secrets with the current key. */
  reseal(): Promise<{ readonly resealed: number; readonly unopened: number }>;
}
