/** The operator's MCP servers, and what is offered over MCP. */
import { LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import { isList } from '../ai/domain/util/json';
import { defineSettings, setting, variable } from '../../host/settings/defineSettings';
import { invalidSetting, SettingProblems } from '../../host/settings/SettingProblems';
import { json, list, matching, onOff, text } from '../../host/settings/settingReaders';
import { readConfiguredServer } from './infrastructure/managed/ConfiguredServer';
import type { ConfiguredServer } from './infrastructure/managed/ConfiguredServer';

export interface McpSettings {
  /** Names of tools, in which `*` stands for any characters. Empty: nothing is offered. */
  readonly tools: readonly string[];
}

const SERVERS = 'a JSON list of MCP servers, such as [{"name":"docs","url":"https://mcp.example.com"}]';

/** Names of tools have up to 64 characters. */
const toolNames = list(
  'names of tools with commas, in which * stands for any characters, such as get_weather,docs_*',
  (name) => /^[a-zA-Z0-9_*-]{1,64}$/.test(name),
);

export const mcpSettings = defineSettings({
  mcpServers: setting('AI_MCP_SERVERS', json(SERVERS, readServers), 'none').means(
    '[MCP servers](../guides/mcp.md) whose tools are registered: a JSON list of the options of `mcp`, such as `hosted`, with which [vendors call them](../guides/mcp.md#hosted-by-the-vendor), but with `oauth: { accounts, clientId, clientSecret, issuer, clientMetadataUrl }`, of which only `accounts` (`user` or `shared`) is required: [accounts](../guides/mcp.md#accounts). In `Meteor.settings.ai` also as a list.',
  ),
  mcpCommands: setting('AI_MCP_COMMANDS', onOff, '`off`').means(
    '`on` lets admins [add MCP servers](../guides/mcp.md#servers-added-at-run-time) that are programs, which run with the rights of this process.',
  ),
  mcp: setting('MCP_TOOLS', offeredTools, 'none').means(
    'The tools that are [offered over MCP](../guides/mcp-server.md): names with commas, in which `*` stands for any characters. Without it, and without [exposed methods](../guides/meteor-expose.md), there is no `/mcp`.',
  ),
  mcpSignIn: setting('MCP_SIGN_IN', signInPage, '`/`').means(
    'Meteor only: where people [sign in](../guides/meteor-sign-in.md) to the app when they connect an MCP client, such as `/login`; `off`: clients need API tokens.',
  ),
  mcpSessions: setting('MCP_SESSIONS', onOff, '`on` for one process').means(
    'Whether clients of earlier revisions of MCP have [sessions](../guides/mcp-server.md#sessions): `on` for several processes behind a balancer with sticky sessions.',
  ),
});

/** Settings of plain Node. */
export const mcpAccessSettings = defineSettings({
  mcpIssuer: variable('MCP_AUTHORIZATION_SERVER', text, 'none').means(
    'The issuer whose [access tokens](../guides/mcp-server.md#authorization) `/mcp` accepts. Plain Node only, from the environment.',
  ),
  mcpUser: variable(
    'MCP_USER',
    matching(/^[^\s\p{C}]{1,128}$/u, 'a user id of 1 to 128 visible characters without spaces'),
    '`local`',
  ).means(
    'The user as whom [`npx bolide mcp`](../guides/mcp-server.md#over-stdio) calls tools. From the environment only.',
  ),
});

/** @returns the page's path, or `off` */
function signInPage(given: unknown, name: string): string {
  if (given === 'off') return given;
  if (typeof given === 'string' && /^\/(?!\/)[\x21-\x7e]*$/.test(given)) return given;
  throw invalidSetting(name, `${name} must be "off", or the path of a page of the app, such as "/login".`);
}

function offeredTools(given: unknown, name: string): McpSettings {
  return { tools: toolNames(given, name) };
}

/** No error quotes a header or a variable. */
function readServers(servers: unknown, name: string): readonly ConfiguredServer[] {
  if (!isList(servers)) throw invalidSetting(name, `${name} must be ${SERVERS}.`);
  const problems = new SettingProblems();
  const names = new Set<string>();
  for (const [index, server] of servers.entries()) {
    try {
      const { name: given } = readConfiguredServer(server);
      if (names.has(given)) problems.add(name, `${name}[${index}]: another server is named "${given}".`);
      names.add(given);
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      problems.add(name, `${name}[${index}]: ${error.message}`);
    }
  }
  problems.throwIfAny();
  return servers as readonly ConfiguredServer[];
}
