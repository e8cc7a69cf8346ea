/** `ai.mcpAccounts.*`: users sign in at MCP servers, and out. */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { object, time } from '../../../host/schemas';
import type { McpAccountUser, McpSignIns } from '../domain/McpSignIns';
import type { Actor } from '../../ai/domain/types/Actor';
import { mcpServerName } from './mcpServerName';

export interface McpAccountServices {
  readonly mcpSignIns: McpSignIns;
}

const ofServer = object({ server: mcpServerName });

export const MCP_ACCOUNT_OPERATIONS = [
  defineOperation({
    name: 'ai.mcpAccounts.list',
    summary: 'List the MCP servers that the caller can sign in at',
    description:
      'Administrators get those with a shared account, too. `missingScope` is what the server has refused calls for: ' +
      'the next sign-in asks for it.',
    access: 'read',
    argument: object({}),
    result: v.looseObject({
      accounts: v.array(
        v.looseObject({
          name: v.string(),
          origin: v.string(),
          accounts: v.picklist(['user', 'shared']),
          signedInAt: v.optional(time),
          missingScope: v.optional(v.string()),
        }),
      ),
    }),
    http: 'GET /api/mcp-accounts',
    reads: ['mcpServers'],
    execute: async ({ mcpSignIns }: McpAccountServices, { actor }) => ({
      accounts: await mcpSignIns.list(userOf(actor)),
    }),
  }),
  defineOperation({
    name: 'ai.mcpAccounts.signIn',
    summary: 'Sign in at an MCP server',
    description: '`url` is a page to open in the user’s browser.',
    access: 'generate',
    argument: ofServer,
    result: v.looseObject({ url: v.string() }),
    http: 'POST /api/mcp-accounts/:server/sign-in',
    changes: [],
    audit: 'flow',
    execute: async ({ mcpSignIns }: McpAccountServices, { actor, argument }) => ({
      url: await mcpSignIns.signIn(argument.server, userOf(actor)),
    }),
  }),
  defineOperation({
    name: 'ai.mcpAccounts.signOut',
    summary: 'Sign out of an MCP server',
    description: 'The account is deleted, and its tokens are revoked.',
    access: 'generate',
    argument: ofServer,
    result: v.looseObject({ signedOut: v.boolean() }),
    http: 'DELETE /api/mcp-accounts/:server',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.sign_out', kind: 'mcp_server', id: 'server', isSafe: true },
    execute: async ({ mcpSignIns }: McpAccountServices, { actor, argument }) => ({
      signedOut: await mcpSignIns.signOut(argument.server, userOf(actor)),
    }),
  }),
] as const;

function userOf({ userId, isAdmin = false }: Actor): McpAccountUser {
  return { userId, isAdmin };
}
