/** What admins do with MCP servers, for all processes. */
import { randomUUID } from 'node:crypto';
import { invalid } from '../../../ai/domain/util/arguments';
import { mcpAccountPlace, mcpDestination } from '../../domain/McpServer';
import type { McpToolApproval, McpToolDefinition, StoredMcpServer } from '../../domain/McpServer';
import { ConflictError, isLLMError, LLMConnectionError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { ChangedSwitches, McpServerAdministration } from '../../domain/McpServerAdministration';
import type { McpAccounts } from '../../domain/McpAccounts';
import type { McpServerStore } from '../../domain/McpServerStore';
import type { McpServerDetail, McpServerTest, McpServerView } from '../../domain/McpViews';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import type { ManagedMcpServers, ManagedMcpServersPorts } from './ManagedMcpServers';
import { listedOf } from './ManagedServer';
import type { ManagedServer } from './ManagedServer';
import { readManagedServer } from './readManagedServer';
import { toolsOf, viewOf } from './serverViews';
import { ToolReview } from './ToolReview';

export interface ServerAdministrationPorts extends Pick<
  ManagedMcpServersPorts,
  'store' | 'createSource' | 'settingsOf' | 'allowCommands'
> {
  readonly accounts: Pick<McpAccounts, 'removeOfServer'>;
  readonly servers: ManagedMcpServers;
  /** The servers of the settings, which are read-only. */
  readonly configured: {
    readonly names: ReadonlySet<string>;
    views(): readonly McpServerDetail[];
  };
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const MAX_SERVERS = 100;
/** Attempts at a write. Each reads what another admin has written in the meantime. */
const MAX_ATTEMPTS = 5;

export class ServerAdministration implements McpServerAdministration {
  private readonly ports: ServerAdministrationPorts;
  private readonly store: McpServerStore;
  private readonly servers: ManagedMcpServers;
  private readonly now: () => number;

  constructor(ports: ServerAdministrationPorts) {
    this.ports = ports;
    this.store = ports.store;
    this.servers = ports.servers;
    this.now = ports.now ?? Date.now;
  }

  async list(): Promise<readonly McpServerView[]> {
    await this.servers.refresh();
    const configured = this.ports.configured.views().map(({ tools: _, ...view }): McpServerView => view);
    const views = [...configured, ...this.servers.all().map((server) => this.viewOf(server))];
    return views.sort(({ name: left }, { name: right }) => (left < right ? -1 : Number(left > right)));
  }

  async get(name: string): Promise<McpServerDetail> {
    const configured = this.ports.configured.views().find((each) => each.name === name);
    if (configured !== undefined) return configured;
    const server = await this.current(name);
    const tools = toolsOf(server, await this.store.definitions(name), this.servers.clashesOf(name));
    return { ...this.viewOf(server), tools };
  }

  async save(name: string, fields: JsonObject, by: string): Promise<McpServerView> {
    this.assertOwn(name);
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.store.find(name);
      const { config, secrets, enabled = known?.enabled ?? true } = this.read(name, fields, known);
      // Another server may call its tools the same.
      const isSame = known !== undefined && mcpDestination(known.config) === mcpDestination(config);
      const approvals = isSame ? known.approvals : [];
      const change = { revision: randomUUID(), connection: randomUUID(), changedAt: this.now(), changedBy: by };
      const server: StoredMcpServer = { name, config, secrets, enabled, approvals, ...change };
      if (await this.put(server, known)) {
        // They are of another server or client, which is not to get their tokens.
        if (known !== undefined && mcpAccountPlace(known.config) !== mcpAccountPlace(config))
          await this.ports.accounts.removeOfServer(name);
        break;
      }
      this.assertAttempt(name, attempt);
    }
    await this.servers.refresh();
    return this.viewOf(await this.current(name));
  }

  async setEnabled(name: string, enabled: boolean, by: string): Promise<McpServerView> {
    await this.update(name, by, (server) => ({ ...server, enabled, connection: randomUUID() }));
    return this.viewOf(await this.current(name));
  }

  async remove(name: string): Promise<boolean> {
    const removed = await this.store.remove(name);
    if (!removed) this.assertOwn(name);
    await this.ports.accounts.removeOfServer(name);
    await this.servers.refresh();
    return removed;
  }

  async test(name: string, fields: JsonObject): Promise<McpServerTest> {
    this.assertOwn(name);
    const { config, secrets } = this.read(name, fields, await this.store.find(name));
    const review = new ToolReview([], () => undefined);
    const source = this.ports.createSource(this.ports.settingsOf({ name, config, secrets }), review);
    try {
      await source.list();
      const { server, protocolVersion } = source.health;
      return omitUndefined({
        server,
        protocolVersion,
        tools: [...(review.listed?.values() ?? [])].map(({ definition }) => definition),
      });
    } catch (error) {
      if (isLLMError(error)) throw error;
      const reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
      throw new LLMConnectionError(`The MCP server "${name}" did not list its tools: ${reason}`, { cause: error });
    } finally {
      await source.close();
    }
  }

  async reconnect(name: string): Promise<McpServerDetail> {
    this.assertOwn(name);
    await this.current(name);
    await this.servers.reconnect(name);
    return this.get(name);
  }

  async approve(
    name: string,
    tools: readonly { readonly tool: string; readonly hash: string }[],
    by: string,
  ): Promise<McpServerDetail> {
    const listed = listedOf(await this.current(name));
    const definitions = new Map<string, McpToolDefinition>();
    for (const { tool, hash } of tools) {
      const now = listed?.get(tool);
      if (now?.hash !== hash)
        throw new ConflictError(`The tool "${tool}" is not what was shown any more. Look at it again.`);
      definitions.set(hash, now.definition);
    }
    await this.store.saveDefinitions(name, definitions);
    const approvedAt = this.now();
    let dropped: readonly string[] = [];
    await this.update(name, by, (server) => {
      const before = new Map(server.approvals.map((approval) => [approval.tool, approval]));
      const after = new Map(before);
      for (const { tool, hash } of tools)
        after.set(tool, { enabled: true, ...before.get(tool), tool, hash, approvedAt });
      const kept = new Set([...after.values()].map(({ hash }) => hash));
      dropped = [...before.values()].flatMap(({ hash }) => (kept.has(hash) ? [] : [hash]));
      return { ...server, approvals: [...after.values()] };
    });
    if (dropped.length > 0) await this.store.removeDefinitions(name, dropped);
    return this.get(name);
  }

  async setTool(name: string, tool: string, switches: ChangedSwitches, by: string): Promise<McpServerDetail> {
    await this.update(name, by, (server) => {
      const approval = server.approvals.find((each) => each.tool === tool);
      if (approval === undefined) throw invalid('tool', 'names no approved tool of the server: approve it first');
      const changed = withSwitches(approval, switches);
      return { ...server, approvals: server.approvals.map((each) => (each.tool === tool ? changed : each)) };
    });
    return this.get(name);
  }

  private read(
    name: string,
    fields: JsonObject,
    known: StoredMcpServer | undefined,
  ): ReturnType<typeof readManagedServer> {
    return readManagedServer(name, fields, known, this.ports.allowCommands);
  }

  private async put(server: StoredMcpServer, known: StoredMcpServer | undefined): Promise<boolean> {
    if (known !== undefined) return this.store.replace(server, known.revision);
    if ((await this.store.revisions()).size >= MAX_SERVERS)
      throw invalid('name', `is of one server too many: there are ${MAX_SERVERS}. Remove one first`);
    try {
      await this.store.insert(server);
      return true;
    } catch (error) {
      if (error instanceof ConflictError) return false;
      throw error;
    }
  }

  private async update(name: string, by: string, change: (server: StoredMcpServer) => StoredMcpServer): Promise<void> {
    this.assertOwn(name);
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.store.find(name);
      if (known === undefined) throw unknownServer(name);
      const changed = { ...change(known), revision: randomUUID(), changedAt: this.now(), changedBy: by };
      if (await this.store.replace(changed, known.revision)) break;
      this.assertAttempt(name, attempt);
    }
    await this.servers.refresh();
  }

  private viewOf(server: ManagedServer): McpServerView {
    return viewOf(server, this.servers.clashesOf(server.stored.name));
  }

  private async current(name: string): Promise<ManagedServer> {
    await this.servers.refresh();
    const server = this.servers.find(name);
    if (server === undefined) throw unknownServer(name);
    return server;
  }

  private assertOwn(name: string): void {
    if (this.ports.configured.names.has(name))
      throw invalid('name', 'is of a server that AI_MCP_SERVERS defines, which is changed there');
  }

  private assertAttempt(name: string, attempt: number): void {
    if (attempt >= MAX_ATTEMPTS)
      throw new ConflictError(`The MCP server "${name}" is being changed by others. Try again.`);
  }
}

function withSwitches(approval: McpToolApproval, switches: ChangedSwitches): McpToolApproval {
  const { needsApproval, blocking, ...fields } = approval;
  const merged = { enabled: fields.enabled, needsApproval, blocking, ...switches };
  return {
    ...fields,
    enabled: merged.enabled ?? true,
    ...(typeof merged.needsApproval === 'boolean' ? { needsApproval: merged.needsApproval } : {}),
    ...(typeof merged.blocking === 'boolean' ? { blocking: merged.blocking } : {}),
  };
}

function unknownServer(name: string): Error {
  return invalid('name', `is of no MCP server that was added: "${name}"`);
}
