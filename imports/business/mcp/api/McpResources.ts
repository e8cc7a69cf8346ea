/**
 * What an app offers as resources over MCP. Each is read by one of the server's tools, so that the rules on that tool,
 * its schema and its limits hold for the resource.
 */
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

export interface McpResource {
  /** An address, or a template of RFC 6570 for one. */
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly description: string;
  /** The tool that reads it. */
  readonly tool: string;
}

export interface McpResourceCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface McpResources {
  list(): readonly McpResource[];
  /** @returns what reads it; undefined for an unknown address */
  find(uri: string): McpResourceCall | undefined;
  /**
   * Calls back when what the user sees of a resource has changed, until the returned function is called.
   * @param onUpdate is called some time after the change, once for changes that follow each other closely
   */
  watch(call: McpResourceCall, userId: string, onUpdate: () => void): () => void;
}
