/** `ai.mcpAccounts.*` for any transport: users sign in at MCP servers, and out. */
import { invalid, readObject, required } from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import type { McpAccountUser, McpSignIns } from '../../domain/interfaces/McpSignIns';
import type { Actor } from '../../domain/types/Actor';
import type { McpAccountView } from '../../domain/types/McpViews';
import type { Operation } from '../../domain/types/Operation';
import { signedIn } from './RunOperations';

/** Every operation throws LLMAuthError if nobody is logged in, and LLMInvalidRequestError. */
export interface McpAccountOperations {
  /** The servers that the user can sign in at; admins get those with a shared account, too. */
  readonly 'ai.mcpAccounts.list': Operation<{ readonly accounts: readonly McpAccountView[] }>;
  /** Takes `{ server }`. `url` is a page to open in the user's browser. Throws LLMPermissionError. */
  readonly 'ai.mcpAccounts.signIn': Operation<{ readonly url: string }>;
  /** Takes `{ server }`, deletes the account, and has its tokens revoked. Throws LLMPermissionError. */
  readonly 'ai.mcpAccounts.signOut': Operation<{ readonly signedOut: boolean }>;
}

export function createMcpAccountOperations({ signIns }: { readonly signIns: McpSignIns }): McpAccountOperations {
  return {
    async 'ai.mcpAccounts.list'(actor, argument = {}) {
      const user = userOf(actor);
      readObject(argument, []);
      return { accounts: await signIns.list(user) };
    },
    async 'ai.mcpAccounts.signIn'(actor, argument) {
      const user = userOf(actor);
      return { url: await signIns.signIn(readServer(argument), user) };
    },
    async 'ai.mcpAccounts.signOut'(actor, argument) {
      const user = userOf(actor);
      return { signedOut: await signIns.signOut(readServer(argument), user) };
    },
  };
}

function userOf(actor: Actor): McpAccountUser {
  signedIn(actor);
  return { userId: actor.userId, isAdmin: actor.isAdmin === true };
}

const readName: ArgumentReader<string> = (value, path) => {
  if (typeof value === 'string' && /^[a-zA-Z0-9_-]{1,32}$/.test(value)) return value;
  throw invalid(path, 'must be 1 to 32 characters of a-z, A-Z, 0-9, _ and -');
};

function readServer(argument: unknown): string {
  return required(readObject(argument, ['server']), 'server', readName);
}
