/** MCP servers as admins see them. Times are milliseconds since the epoch. No view has the value of a secret. */
import type { McpServerConfig, McpToolDefinition } from './McpServer';

/** In the process that answers. */
export interface McpHealthView {
  readonly state: 'idle' | 'connecting' | 'connected' | 'unreachable' | 'closed';
  /** When the connection was made, or when it first failed. */
  readonly since?: number;
  /** Consecutive failures. */
  readonly failures: number;
  readonly error?: string;
  /** It failed because nobody has signed in, or the server does not take the account any more. */
  readonly needsSignIn?: true;
  readonly retryAt?: number;
  readonly server?: { readonly name: string; readonly version: string };
  readonly protocolVersion?: string;
}

/**
 * `approved`: as it was approved. `new`: never approved. `changed`: not what was approved. `missing`: approved, but the
 * server does not list it now. Only approved tools that are enabled are offered.
 */
export type McpToolState = 'approved' | 'new' | 'changed' | 'missing';

export interface McpToolView {
  /** The server's name of the tool. */
  readonly tool: string;
  readonly state: McpToolState;
  readonly enabled: boolean;
  /** Absent: as `mcp` has it by default. */
  readonly needsApproval?: boolean;
  readonly blocking?: boolean;
  /** The hash of the definition that the server lists, for its approval. */
  readonly hash?: string;
  /** What the server lists now. */
  readonly current?: McpToolDefinition;
  /** What was approved. */
  readonly approved?: McpToolDefinition;
  readonly approvedAt?: number;
  /** It is not offered, because another tool has its name. */
  readonly clash?: {
    readonly name: string;
    /** Whence the other tool comes: the name of an MCP server or of another source. Absent: from the app itself. */
    readonly source?: string;
  };
}

export interface McpServerView extends McpServerConfig {
  readonly name: string;
  /** `settings`: the server cannot be changed at run time, and all its tools are offered. */
  readonly source: 'settings' | 'dashboard';
  readonly enabled: boolean;
  /** Names of the headers that are sent. */
  readonly headerNames: readonly string[];
  /** Names of the variables that its process gets. */
  readonly envNames: readonly string[];
  /** Whether the secret of `oauth.clientId` is stored. */
  readonly hasClientSecret?: boolean;
  /** Why no vendor calls it although it is `hosted`, as a clause. */
  readonly hostedObstacle?: string;
  /** Why it is not connected, as a sentence, although it is switched on. */
  readonly problem?: string;
  /** Absent while it is switched off. */
  readonly health?: McpHealthView;
  /** Tools by state; `offered` are registered. */
  readonly counts: Readonly<Record<McpToolState | 'offered', number>>;
  readonly changedAt?: number;
  readonly changedBy?: string;
}

export interface McpServerDetail extends McpServerView {
  /** By name. Those of a server of the settings have no definitions. */
  readonly tools: readonly McpToolView[];
}

/** A server that a user can sign in at. */
export interface McpAccountView {
  readonly name: string;
  /** The origin of the server's address. */
  readonly origin: string;
  /** `shared`: all users' calls are made with the account. */
  readonly accounts: 'user' | 'shared';
  /** Absent: nobody has signed in. Milliseconds since the epoch. */
  readonly signedInAt?: number;
  /** Scopes, with spaces, for lack of which the server has refused calls since: the next sign-in asks for them. */
  readonly missingScope?: string;
}

/** What a server that was tried out has listed. */
export interface McpServerTest {
  readonly server?: { readonly name: string; readonly version: string };
  readonly protocolVersion?: string;
  readonly tools: readonly McpToolDefinition[];
}
