/** The operator's MCP servers. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import { readMcpServerSettings } from '../../business/ai/infrastructure/tools/mcp/McpServerSettings';
import type { McpServerSettings } from '../../business/ai/infrastructure/tools/mcp/McpServerSettings';
import { SettingProblems } from './SettingProblems';

const NAME = 'AI_MCP_SERVERS';
const EXAMPLE = '[{"name":"docs","url":"https://mcp.example.com"}]';

/**
 * AI_MCP_SERVERS: a JSON list of what `mcp` takes. Default: none.
 * @param given the JSON, or what it stands for
 * @throws LLMInvalidRequestError that names every invalid server; none quotes a header or a variable
 */
export function readMcpServers(given: unknown): readonly McpServerSettings[] {
  if (given === undefined || given === '') return [];
  const servers = typeof given === 'string' ? parsed(given) : given;
  if (!isList(servers))
    throw new LLMInvalidRequestError(`${NAME} must be a JSON list of MCP servers, such as ${EXAMPLE}.`, { path: NAME });
  const problems = new SettingProblems();
  const names = new Set<string>();
  for (const [index, server] of servers.entries()) {
    try {
      // Boundary: checked here.
      const { name } = readMcpServerSettings((isObject(server) ? server : {}) as unknown as McpServerSettings);
      if (names.has(name)) problems.add(NAME, `${NAME}[${index}]: another server is named "${name}".`);
      names.add(name);
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      problems.add(NAME, `${NAME}[${index}]: ${error.message}`);
    }
  }
  problems.throwIfAny();
  return servers as readonly McpServerSettings[];
}

/** @returns undefined for what is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
