/** MCP servers, whose tools runs use. What is offered over MCP is part of the HTTP API. */
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { MCP_SIGN_IN_PAGES } from './api/mcpSignInPages';
import { MCP_ACCOUNT_OPERATIONS } from './application/mcpAccountOperations';
import { MCP_SERVER_OPERATIONS } from './application/mcpServerOperations';
import { MCP_COLLECTIONS } from './collections';
import { toStoredServer } from './infrastructure/managed/ConfiguredServer';
import { openManagedMcpServers } from './openManagedMcpServers';
import { openMcpAccounts } from './openMcpAccounts';
import { openMcpServers } from './openMcpServers';

export const mcp = defineFeature({
  name: 'mcp',
  collections: MCP_COLLECTIONS,
  operations: [...MCP_SERVER_OPERATIONS, ...MCP_ACCOUNT_OPERATIONS],
  open: nothingToOpen,
  async start({ settings, database, sealer, logger, notify, findUser, providers, ai, homeUrl, rootUrl }) {
    const { allowPrivateHosts, mcpServers = [], mcpCommands = false } = settings;
    const storage = { database, sealer, logger };
    const accounts = await openMcpAccounts({
      ...{ ...storage, allowPrivateHosts },
      redirectUrl: rootUrl + MCP_SIGN_IN_PAGES.callback,
      signInUrl: (name) => `${homeUrl}/#/mcp-servers/${name}`,
    });
    const closeConfigured = await openMcpServers(
      ai.tools,
      mcpServers.map((server) => accounts.serverAccounts.settingsOf(toStoredServer(server))),
      { allowPrivateHosts, logger },
    );
    const managed = await openManagedMcpServers(ai.tools, mcpServers, accounts, {
      ...storage,
      allowCommands: mcpCommands,
      findUser,
      createFlow: (servers) => providers.createFlow(servers, MCP_SIGN_IN_PAGES.start),
      onChange: () => {
        notify('mcpServers');
        // The page of the tools.
        notify('calls');
      },
    }).catch(async (error: unknown) => {
      await closeConfigured();
      throw error;
    });
    return {
      services: {
        mcpServers: { administration: managed.administration, onChange: () => notify('mcpServers'), logger },
        mcpSignIns: managed.signIns,
      },
      flow: managed.flow,
      reseal: () => managed.reseal(),
      async close() {
        await Promise.all([closeConfigured(), managed.close()]);
      },
    };
  },
});
