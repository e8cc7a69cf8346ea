/** The accounts at MCP servers, which are connected with them. */
import type { Logger } from '../ai/domain/interfaces/Logger';
import type { McpAccounts } from './domain/McpAccounts';
import type { SecretSealer } from '../ai/domain/interfaces/SecretSealer';
import type { PrivateHosts } from '../ai/infrastructure/clients/http/privateHosts';
import { mcp } from './mcp';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { DocumentMcpAccounts } from './infrastructure/DocumentMcpAccounts';
import { ServerAccounts } from './infrastructure/managed/ServerAccounts';
import type { McpSource } from './infrastructure/McpSource';
import type { McpServerSettings } from './infrastructure/McpServerSettings';
import type { McpToolPolicy } from './infrastructure/McpToolPolicy';

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
  const createSource: OpenedMcpAccounts['createSource'] = (settings, policy) => {
    const defaults = settings.url === undefined ? {} : { allowPrivateHosts };
    return mcp({ ...defaults, ...settings, logger, policy });
  };
  return {
    ...{ accounts, createSource },
    serverAccounts: new ServerAccounts({ accounts, createSource, redirectUrl, signInUrl, logger }),
  };
}
