/** The accounts at MCP servers, which are connected with them. */
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { McpAccounts } from '../business/ai/domain/interfaces/McpAccounts';
import type { SecretSealer } from '../business/ai/domain/interfaces/SecretSealer';
import type { PrivateHosts } from '../business/ai/infrastructure/clients/http/privateHosts';
import { mcp } from '../business/ai/infrastructure/factories/mcp';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { DocumentMcpAccounts } from '../business/ai/infrastructure/persistence/mcp/DocumentMcpAccounts';
import { ServerAccounts } from '../business/ai/infrastructure/tools/mcp/managed/ServerAccounts';
import type { McpSource } from '../business/ai/infrastructure/tools/mcp/McpSource';
import type { McpServerSettings } from '../business/ai/infrastructure/tools/mcp/McpServerSettings';
import type { McpToolPolicy } from '../business/ai/infrastructure/tools/mcp/McpToolPolicy';

export interface McpAccountsOptions {
  readonly database: DocumentDatabase;
  readonly sealer: SecretSealer;
  /** For servers that say nothing themselves. */
  readonly allowPrivateHosts: PrivateHosts;
  /** Where authorization servers send people back to. */
  readonly redirectUrl: string;
  /** @returns a page on which a user can sign in at the server of that name */
  readonly signInUrl: (name: string) => string;
  readonly logger: Logger;
}

export interface OpenedMcpAccounts {
  readonly accounts: McpAccounts;
  readonly serverAccounts: ServerAccounts;
  readonly createSource: (settings: McpServerSettings, policy?: McpToolPolicy) => McpSource;
}

export async function openMcpAccounts(options: McpAccountsOptions): Promise<OpenedMcpAccounts> {
  const { database, sealer, allowPrivateHosts, redirectUrl, signInUrl, logger } = options;
  const accounts = new DocumentMcpAccounts(database, sealer);
  await accounts.ready();
  const createSource: OpenedMcpAccounts['createSource'] = (settings, policy) =>
    mcp({
      ...(settings.url === undefined ? {} : { allowPrivateHosts }),
      ...settings,
      logger,
      ...(policy === undefined ? {} : { policy }),
    });
  return {
    ...{ accounts, createSource },
    serverAccounts: new ServerAccounts({ accounts, createSource, redirectUrl, signInUrl, logger }),
  };
}
