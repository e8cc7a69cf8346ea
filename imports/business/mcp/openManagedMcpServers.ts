/** Has a registry follow the MCP servers that admins add, beside those of the settings. */
import type { Logger } from '../ai/domain/interfaces/Logger';
import type { McpServerAdministration } from './domain/McpServerAdministration';
import type { SecretSealer } from '../ai/domain/interfaces/SecretSealer';
import { omitUndefined } from '../ai/domain/util/omitUndefined';
import type { McpSignIns } from './domain/McpSignIns';
import type { UserLookup } from '../ai/domain/types/Actor';
import type { McpServerDetail, McpToolView } from './domain/McpViews';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { DocumentMcpServers } from './infrastructure/DocumentMcpServers';
import { toStoredServer } from './infrastructure/managed/ConfiguredServer';
import type { ConfiguredServer } from './infrastructure/managed/ConfiguredServer';
import { ListingAccounts } from './infrastructure/managed/ListingAccounts';
import { ManagedMcpServers, SERVERS_MAX_AGE_MS } from './infrastructure/managed/ManagedMcpServers';
import type { ServerAccounts } from './infrastructure/managed/ServerAccounts';
import { ServerAdministration } from './infrastructure/managed/ServerAdministration';
import { ServerSignIns } from './infrastructure/managed/ServerSignIns';
import { viewOfConfigured } from './infrastructure/managed/serverViews';
import { McpSource } from './infrastructure/McpSource';
import type { ToolRegistry } from '../ai/infrastructure/tools/ToolRegistry';
import type { DelegatedOAuthFlow } from '../providers/application/oauth/DelegatedOAuthFlow';
import type { OpenedMcpAccounts } from './openMcpAccounts';

export interface ManagedMcpOptions {
  readonly database: DocumentDatabase;
  readonly sealer: SecretSealer;
  /** Whether admins may add programs. */
  readonly allowCommands: boolean;
  readonly logger: Logger;
  readonly findUser: UserLookup;
  /** Creates the flow of the sign-in pages. */
  readonly createFlow: (servers: ServerSignIns) => DelegatedOAuthFlow;
  /** Called after every change that pages show. */
  readonly onChange: () => void;
  /** Milliseconds that the start waits for the servers' tools; default 10,000. Others come later. */
  readonly startTimeout?: number;
  /** Milliseconds between two looks for changes of other processes; default 2,000. */
  readonly maxAge?: number;
}

export interface ManagedMcp {
  readonly administration: McpServerAdministration;
  readonly signIns: McpSignIns;
  /** The flow of the sign-in pages. */
  readonly flow: DelegatedOAuthFlow;
  /** Seals all secrets with the current key. */
  reseal(): Promise<{ readonly resealed: number; readonly unopened: number }>;
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 10_000;

/** @param configured the servers of the settings, which are in the registry already */
export async function openManagedMcpServers(
  registry: ToolRegistry,
  configured: readonly ConfiguredServer[],
  { accounts, serverAccounts, createSource }: OpenedMcpAccounts,
  options: ManagedMcpOptions,
): Promise<ManagedMcp> {
  const { database, sealer, allowCommands, logger, onChange, maxAge = SERVERS_MAX_AGE_MS } = options;
  const store = new DocumentMcpServers(database, sealer);
  await store.ready();
  const names = new Set(configured.map(({ name }) => name));
  const isAlone = database.isExclusive;
  const sourceOf = (name: string): McpSource | undefined => {
    const source = registry.sources.find((each) => each.name === name);
    return source instanceof McpSource ? source : undefined;
  };
  const settingsOf: ServerAccounts['settingsOf'] = (server) => serverAccounts.settingsOf(server);
  const servers = new ManagedMcpServers({
    ...{ settingsOf, store, registry, createSource, allowCommands, logger, onChange, isAlone, maxAge },
    configured: names,
  });
  const withAccounts = configured.filter(({ oauth }) => oauth !== undefined);
  const listing = new ListingAccounts({
    ...{ accounts, logger, maxAge },
    names: isAlone ? [] : withAccounts.map(({ name }) => name),
    onChange: (name) => {
      sourceOf(name)?.notify();
      onChange();
    },
  });
  const signIns: ServerSignIns = new ServerSignIns({
    ...{ servers, store, accounts, serverAccounts, sourceOf, onChange, findUser: options.findUser },
    configured: new Map(withAccounts.map((server) => [server.name, toStoredServer(server)])),
    connect: (userId, name) => flow.connect(userId, name),
  });
  const flow = options.createFlow(signIns);
  await listing.start();
  await servers.start(options.startTimeout ?? START_TIMEOUT_MS);
  const views = (): readonly McpServerDetail[] =>
    configured.map((settings) => configuredDetail(registry, settings, sourceOf(settings.name)));
  return {
    administration: new ServerAdministration({
      ...{ store, accounts, servers, settingsOf, createSource, allowCommands },
      configured: { names, views },
    }),
    ...{ signIns, flow },
    async reseal() {
      const [ofServers, ofAccounts] = [await store.reseal(), await accounts.reseal()];
      return {
        resealed: ofServers.resealed + ofAccounts.resealed,
        unopened: ofServers.unopened + ofAccounts.unopened,
      };
    },
    async close() {
      await Promise.all([listing.close(), servers.close()]);
    },
  };
}

function configuredDetail(
  registry: ToolRegistry,
  settings: ConfiguredServer,
  source: McpSource | undefined,
): McpServerDetail {
  const tools = registry.toolsOf(settings.name);
  const views = tools.map((tool): McpToolView => ({ tool, state: 'approved', enabled: true }));
  const clashing = [...registry.clashesOf(settings.name)].map(([tool, other]): McpToolView => {
    const clash = omitUndefined({ name: tool, source: other });
    return { tool, state: 'approved', enabled: true, clash };
  });
  return {
    ...viewOfConfigured(settings, source, tools),
    tools: [...views, ...clashing],
  };
}
