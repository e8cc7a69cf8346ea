/** Stores the accounts with which MCP servers are used, for all processes. What they contain is sealed. */

export interface McpAccount {
  /** The server's name. */
  readonly server: string;
  /** Whose it is; null for the one that all users share. */
  readonly userId: string | null;
  /** Tokens and what the client has learned, as one text. Undefined if it cannot be opened: its key is unknown. */
  readonly content: string | undefined;
  /** The server's tools are listed with it: an admin has signed in. */
  readonly listsTools: boolean;
  /** Differs after each change. */
  readonly revision: string;
  /** When somebody has signed in, in milliseconds since the epoch. */
  readonly signedInAt: number;
}

export type McpAccountKey = Pick<McpAccount, 'server' | 'userId'>;

export interface McpAccounts {
  find(key: McpAccountKey): Promise<McpAccount | undefined>;
  /** The account that the server's tools are listed with: the one that an admin has signed in to last. */
  findListing(server: string): Promise<McpAccount | undefined>;
  /** When the user has signed in, by server. */
  signedInAt(userId: string | null): Promise<ReadonlyMap<string, number>>;
  /** Adds the account, or replaces it. */
  put(account: Omit<McpAccount, 'revision' | 'content'> & { readonly content: string }): Promise<void>;
  /** @returns false if the account has changed since that revision, or is gone */
  replaceContent(key: McpAccountKey, content: string, expectedRevision: string): Promise<boolean>;
  /** @returns what it was */
  take(key: McpAccountKey): Promise<McpAccount | undefined>;
  removeOfServer(server: string): Promise<void>;
  /** Seals everything with the current key. */
  reseal(): Promise<{ readonly resealed: number; readonly unopened: number }>;
}
