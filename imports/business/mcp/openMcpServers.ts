/** Has a registry follow the MCP servers of the settings. */
import type { PrivateHosts } from '../ai/infrastructure/clients/http/privateHosts';
import type { Logger } from '../ai/domain/interfaces/Logger';
import { MissingPackageError } from '../ai/domain/errors/LLMErrors';
import { atMost } from '../ai/domain/util/atMost';
import { mcp } from './mcp';
import { SignInRequiredError } from './infrastructure/McpOAuth';
import type { McpServerSettings } from './infrastructure/McpServerSettings';
import type { ToolRegistry } from '../ai/infrastructure/tools/ToolRegistry';

export interface McpServersOptions {
  /** For servers that say nothing themselves. */
  readonly allowPrivateHosts: PrivateHosts;
  readonly logger: Logger;
  /** Milliseconds that the start waits for the servers' tools; default 10,000. Others come later. */
  readonly startTimeout?: number;
}

const START_TIMEOUT_MS = 10_000;

/**
 * Resolves when the tools are registered, or no longer waited for. A server that cannot be reached is tried again.
 * @returns closes the servers
 * @throws MissingPackageError without `@modelcontextprotocol/client`, LLMInvalidRequestError for a name that is taken
 */
export async function openMcpServers(
  registry: ToolRegistry,
  servers: readonly McpServerSettings[],
  { allowPrivateHosts, logger, startTimeout = START_TIMEOUT_MS }: McpServersOptions,
): Promise<() => Promise<void>> {
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(({ name }) => registry.removeSource(name)));
  };
  const adding = servers.map(async (settings) => {
    const defaults = settings.url === undefined ? {} : { allowPrivateHosts };
    try {
      await registry.addSource(mcp({ ...defaults, ...settings, logger }), logger);
    } catch (error) {
      if (error instanceof MissingPackageError) throw error;
      if (error instanceof Error && error.cause instanceof SignInRequiredError)
        logger.info(`The tools of the MCP server "${settings.name}" are listed once an admin has signed in there.`);
      else logger.warn(`The tools of the MCP server "${settings.name}" are not there yet.`, error);
    }
  });
  try {
    await atMost(startTimeout, Promise.all(adding));
  } catch (error) {
    await close();
    throw error;
  }
  // One that fails after the time limit has failed before it was logged.
  for (const each of adding) each.catch((error: unknown) => logger.error('An MCP server cannot be used.', error));
  return close;
}
