/** The operator's MCP servers. */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { isList } from '../../ai/domain/json';
import { readConfiguredServer } from '../infrastructure/managed/ConfiguredServer';
import type { ConfiguredServer } from '../infrastructure/managed/ConfiguredServer';
import { SettingProblems } from '../../../host/settings/SettingProblems';

const NAME = 'AI_MCP_SERVERS';
const EXAMPLE = '[{"name":"docs","url":"https://mcp.example.com"}]';

/**
 * AI_MCP_SERVERS: a JSON list of what `mcp` takes, but with the `oauth` of servers that admins add. Default: none.
 * @param given the JSON, or what it stands for
 * @throws LLMInvalidRequestError that names every invalid server; none quotes a header or a variable
 */
export function readMcpServers(given: unknown): readonly ConfiguredServer[] {
  if (given === undefined || given === '') return [];
  const servers = typeof given === 'string' ? parsed(given) : given;
  if (!isList(servers))
    throw new LLMInvalidRequestError(`${NAME} must be a JSON list of MCP servers, such as ${EXAMPLE}.`, { path: NAME });
  const problems = new SettingProblems();
  const names = new Set<string>();
  for (const [index, server] of servers.entries()) {
    try {
      const { name } = readConfiguredServer(server);
      if (names.has(name)) problems.add(NAME, `${NAME}[${index}]: another server is named "${name}".`);
      names.add(name);
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      problems.add(NAME, `${NAME}[${index}]: ${error.message}`);
    }
  }
  problems.throwIfAny();
  return servers as readonly ConfiguredServer[];
}

/**
 * AI_MCP_COMMANDS: `on` lets admins add servers that are programs, which run on this machine; `off` is the default.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError
 */
export function readMcpCommands(valueOf: (name: string) => string | undefined): boolean {
  const value = valueOf('AI_MCP_COMMANDS')?.toLowerCase() ?? 'off';
  if (value === 'on' || value === 'off') return value === 'on';
  throw new LLMInvalidRequestError('AI_MCP_COMMANDS must be on or off.', { path: 'AI_MCP_COMMANDS' });
}

/** @returns undefined for what is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
