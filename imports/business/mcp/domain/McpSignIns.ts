/** What users do with their accounts at MCP servers that admins have added. */
import type { McpAccountView } from './McpViews';

export interface McpAccountUser {
  readonly userId: string;
  readonly isAdmin: boolean;
}

export interface McpSignIns {
  /** The servers that the user can sign in at, by name. */
  list(user: McpAccountUser): Promise<readonly McpAccountView[]>;
  /**
   * @returns the URL of a page of this app, to open in the user's browser, which sends it to the authorization server
   * @throws LLMPermissionError if there is no sign-in for the user
   */
  signIn(name: string, user: McpAccountUser): Promise<string>;
  /** Deletes the account and has its tokens revoked. @returns whether there was one @throws LLMPermissionError */
  signOut(name: string, user: McpAccountUser): Promise<boolean>;
}
