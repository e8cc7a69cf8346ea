/** Tools, resources and prompts of an MCP server. */
import { checkValue } from '../ai/application/services/schema/checkSchema';
import { programLogger } from '../../log/programLogger';
import type { Logger } from '../ai/domain/interfaces/Logger';
import type { McpServerSettings } from './infrastructure/McpServerSettings';
import type { McpToolPolicy } from './infrastructure/McpToolPolicy';
import { McpSource } from './infrastructure/McpSource';

export interface McpOptions extends McpServerSettings {
  /** Default: the console. */
  readonly logger?: Logger;
  /** Decides about the server's tools at run time. Default: all are offered. */
  readonly policy?: McpToolPolicy | undefined;
}

/**
 * ```ts
 * const registry = new ToolRegistry();
 * await registry.addSource(mcp({ name: 'docs', url: 'https://mcp.example.com' }));
 * ```
 *
 * Nothing is connected before the first use. Needs the package `@modelcontextprotocol/client`.
 * @throws LLMInvalidRequestError, whose `path` names the invalid option
 */
export function mcp({ logger, policy, ...settings }: McpOptions): McpSource {
  return new McpSource(settings, {
    logger: programLogger(logger),
    policy,
    findViolations: async (schema, value, userId) => {
      const { violations } = await checkValue({ schema, untrusted: true, userId }, value);
      return violations.map(({ path, message }) => `${path}: ${message}`);
    },
  });
}
