/** An MCP server that admins have added at run time, and what they have approved of it. */
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

/** How its users sign in. */
export interface McpOAuthConfig {
  /**
   * `user`: each user signs in, and a call is made with the account of its user. `shared`: an admin signs in, and all
   * calls are made with that account.
   */
  readonly accounts: 'user' | 'shared';
  /** The id of a client that was registered before, at `issuer` and nowhere else. Default: Bolide registers itself. */
  readonly clientId?: string;
  /** The authorization server that knows `clientId`. */
  readonly issuer?: string;
  /** The https URL of a client's metadata document, for authorization servers that read one. */
  readonly clientMetadataUrl?: string;
}

/** How it is reached and what of it is offered, without secrets. The fields are those of `mcp`. */
export interface McpServerConfig {
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly prefix?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly deferLoading?: boolean | 'auto';
  /** Milliseconds. */
  readonly timeout?: number;
  readonly taskTimeout?: number;
  readonly connectTimeout?: number;
  readonly maxTools?: number;
  readonly hosted?: boolean;
  readonly shareHeaders?: boolean;
  /** Absent: nobody signs in. */
  readonly oauth?: McpOAuthConfig;
}

export interface McpServerSecrets {
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The secret of `oauth.clientId`. */
  readonly clientSecret?: string;
}

/** What the model would be given about a tool, as the server has sent it. */
export interface McpToolDefinition {
  /** The server's name of the tool. */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** Switches of a tool. What is absent is as the server and the defaults have it. */
export interface McpToolSwitches {
  /** Whether it is offered, once it is approved. */
  readonly enabled: boolean;
  readonly needsApproval?: boolean;
  readonly blocking?: boolean;
}

export interface McpToolApproval extends McpToolSwitches {
  /** The server's name of the tool. */
  readonly tool: string;
  /** The hash of the approved definition. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly approvedAt: number;
}

export interface StoredMcpServer {
  /** 1 to 32 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly config: McpServerConfig;
  /** Undefined if they cannot be opened: their key is unknown, or they were altered. */
  readonly secrets: McpServerSecrets | undefined;
  /** A server that is switched off is not connected. */
  readonly enabled: boolean;
  readonly approvals: readonly McpToolApproval[];
  /** Differs after each change. */
  readonly revision: string;
  /** Differs after each change for which the server must be connected anew. */
  readonly connection: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** Absent once that user's data is deleted. */
  readonly changedBy?: string;
}

/** Where its headers are sent, or its variables are read: they are sent nowhere else. */
export function mcpDestination({ url, command, args = [], cwd }: McpServerConfig): string {
  return JSON.stringify(url === undefined ? { command, args, cwd: cwd ?? null } : { url: new URL(url).href });
}

/** Where its accounts are of use: they are those of another client elsewhere. */
export function mcpAccountPlace(config: McpServerConfig): string {
  const { accounts, clientId = null, issuer = null, clientMetadataUrl = null } = config.oauth ?? {};
  return JSON.stringify([mcpDestination(config), accounts ?? null, clientId, issuer, clientMetadataUrl]);
}
