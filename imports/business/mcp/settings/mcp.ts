/** The settings of what is offered over MCP. */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { PrivateHosts } from '../../ai/infrastructure/clients/http/privateHosts';
import { readIssuer } from '../../../host/settings/oidc';
import { SettingProblems } from '../../../host/settings/SettingProblems';

export interface McpSettings {
  /** Names of tools, in which `*` stands for any characters. Empty: nothing is offered. */
  readonly tools: readonly string[];
}

/** MCP_USER: the user as whom `npx bolide mcp` calls tools. Default: `local`. @throws LLMInvalidRequestError */
export function readMcpUser(valueOf: (name: string) => string | undefined): string {
  const user = valueOf('MCP_USER') ?? 'local';
  if (/^[^\s\p{C}]{1,128}$/u.test(user)) return user;
  throw new LLMInvalidRequestError('MCP_USER must be a user id of 1 to 128 visible characters without spaces.', {
    path: 'MCP_USER',
  });
}

/**
 * MCP_AUTHORIZATION_SERVER: the issuer whose access tokens are accepted at `/mcp`. Default: none.
 * @param privateHosts those that may be called over http
 * @throws LLMInvalidRequestError
 */
export function readMcpIssuer(
  valueOf: (name: string) => string | undefined,
  privateHosts: PrivateHosts,
): URL | undefined {
  const problems = new SettingProblems();
  const name = 'MCP_AUTHORIZATION_SERVER';
  const issuer = readIssuer(name, valueOf(name)?.trim() ?? '', privateHosts, problems);
  problems.throwIfAny();
  return issuer;
}

/** Names of tools have up to 64 characters. */
const PATTERN = /^[a-zA-Z0-9_*-]{1,64}$/;

/**
 * MCP_TOOLS: names with commas. Default: none, so that there is no `/mcp`.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError
 */
export function readMcpSettings(valueOf: (name: string) => string | undefined): McpSettings {
  const tools = (valueOf('MCP_TOOLS') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = tools.find((name) => !PATTERN.test(name));
  if (wrong === undefined) return { tools };
  throw new LLMInvalidRequestError(
    `MCP_TOOLS has "${wrong.slice(0, 100)}". Expected names of tools with commas, in which * stands for any characters, such as get_weather,docs_*.`,
    { path: 'MCP_TOOLS' },
  );
}
