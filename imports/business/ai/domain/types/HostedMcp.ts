/** Tools of MCP servers that a vendor may call itself, instead of Bolide. */

export interface HostedMcpServer {
  /** Bolide's name of the server. */
  readonly name: string;
  readonly url: string;
  /** What the vendor is given to send to the server: it has credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Why no vendor may call it, as a clause. Absent: they may. */
  readonly obstacle?: string;
}

export interface HostedMcpTool {
  readonly server: HostedMcpServer;
  /** The server's name of the tool. */
  readonly name: string;
}

/** By the names that the tools have in requests. */
export type HostedMcpTools = ReadonlyMap<string, HostedMcpTool>;
