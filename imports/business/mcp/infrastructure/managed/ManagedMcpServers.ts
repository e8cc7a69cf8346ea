/**
 * Has a registry follow the MCP servers that admins have added: those that are switched on are connected, and what an
 * admin has approved of them is offered. Other processes notice a change within `SERVERS_MAX_AGE_MS`.
 */
import type { StoredMcpServer } from '../../domain/McpServer';
import { isLLMError, MissingPackageError } from '../../../ai/domain/errors/LLMErrors';
import type { Logger } from '../../../ai/domain/interfaces/Logger';
import { atMost } from '../../../ai/domain/util/atMost';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { McpServerStore } from '../../domain/McpServerStore';
import type { ToolRegistry } from '../../../ai/infrastructure/tools/ToolRegistry';
import { SignInRequiredError } from '../McpOAuth';
import type { McpServerSettings } from '../McpServerSettings';
import type { McpToolPolicy } from '../McpToolPolicy';
import type { McpSource } from '../McpSource';
import type { ManagedServer } from './ManagedServer';
import { ToolReview } from './ToolReview';

export interface ManagedMcpServersPorts {
  readonly store: McpServerStore;
  readonly registry: ToolRegistry;
  /** How a stored server is connected. */
  readonly settingsOf: (server: Pick<StoredMcpServer, 'name' | 'config' | 'secrets'>) => McpServerSettings;
  readonly createSource: (settings: McpServerSettings, policy?: McpToolPolicy) => McpSource;
  /** Names of the servers that the settings define: a stored one of that name is not used. */
  readonly configured: ReadonlySet<string>;
  /** Whether programs may be started. */
  readonly allowCommands: boolean;
  readonly logger: Logger;
  /** Called after every change that pages show. */
  readonly onChange: () => void;
  /** No other process changes servers. */
  readonly isAlone: boolean;
  /** Milliseconds between two looks for changes of other processes; default `SERVERS_MAX_AGE_MS`. */
  readonly maxAge?: number;
}

/** How often a process looks for changes of others. */
export const SERVERS_MAX_AGE_MS = 2_000;

export class ManagedMcpServers {
  private readonly ports: ManagedMcpServersPorts;
  private servers: ReadonlyMap<string, ManagedServer> = new Map();
  /** Changes are followed one after another. */
  private last: Promise<unknown> = Promise.resolve();
  private readonly closing = new Set<Promise<unknown>>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isFailing = false;
  private isClosed = false;

  constructor(ports: ManagedMcpServersPorts) {
    this.ports = ports;
  }

  /**
   * Reads the servers and connects them, and follows changes from then on.
   * @param timeout milliseconds that it waits for their tools. Others come later
   */
  async start(timeout: number): Promise<void> {
    const { connecting } = await this.inTurn(() => this.read());
    await atMost(timeout, Promise.all(connecting));
    if (!this.ports.isAlone) this.poll();
  }

  /** By name, as last read. */
  all(): readonly ManagedServer[] {
    return [...this.servers.values()];
  }

  find(name: string): ManagedServer | undefined {
    return this.servers.get(name);
  }

  /** See `ToolRegistry.clashesOf`. */
  clashesOf(name: string): ReadonlyMap<string, string | undefined> {
    return this.ports.registry.clashesOf(name);
  }

  /** Reads what has changed. New servers are being connected when it resolves. */
  async refresh(): Promise<void> {
    await this.inTurn(() => this.read());
  }

  /** Connects a server anew, in this process. Resolves when its tools are registered, or it has failed. */
  async reconnect(name: string): Promise<void> {
    const [connecting] = await this.inTurn(() => {
      const known = this.servers.get(name);
      if (known === undefined || this.isClosed) return [];
      this.disconnect(known);
      return [this.put(known.stored)];
    });
    await connecting;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.last;
    for (const server of this.all()) this.disconnect(server);
    this.servers = new Map();
    await Promise.all(this.closing);
  }

  private inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  private poll(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.refresh()
        .then(
          () => {
            this.isFailing = false;
          },
          (error: unknown) => {
            // Not every two seconds of an outage.
            if (!this.isFailing)
              this.ports.logger.error('Could not read the MCP servers. Those read last still apply.', error);
            this.isFailing = true;
          },
        )
        .finally(() => this.poll());
    }, this.ports.maxAge ?? SERVERS_MAX_AGE_MS);
    this.timer.unref();
  }

  /** @returns settle when the tools of the servers that were connected are registered, or it has failed */
  private async read(): Promise<{ readonly connecting: readonly Promise<void>[] }> {
    if (this.isClosed) return { connecting: [] };
    const { store, onChange } = this.ports;
    const revisions = await store.revisions();
    const connecting: Promise<void>[] = [];
    let hasChanged = false;
    for (const known of this.all()) {
      if (revisions.has(known.stored.name)) continue;
      this.disconnect(known);
      this.forget(known.stored.name);
      hasChanged = true;
    }
    for (const [name, revision] of revisions) {
      if (this.servers.get(name)?.stored.revision === revision) continue;
      const stored = await store.find(name);
      // Removed a moment ago: the next read notices.
      if (stored === undefined) continue;
      connecting.push(...this.follow(stored));
      hasChanged = true;
    }
    if (hasChanged) onChange();
    return { connecting };
  }

  private follow(stored: StoredMcpServer): readonly Promise<void>[] {
    const known = this.servers.get(stored.name);
    if (known !== undefined && known.stored.connection === stored.connection) {
      this.set({ ...known, stored });
      known.open?.review.setApprovals(stored.approvals);
      known.open?.source.notify();
      return [];
    }
    if (known !== undefined) this.disconnect(known);
    return [this.put(stored)];
  }

  /** @returns settles when its tools are registered, or it has failed */
  private put(stored: StoredMcpServer): Promise<void> {
    const problem = this.problemOf(stored);
    if (problem !== undefined || !stored.enabled) {
      this.set(omitUndefined({ stored, problem }));
      return Promise.resolve();
    }
    const { registry, createSource, settingsOf, logger, onChange } = this.ports;
    const { name } = stored;
    const review = new ToolReview(stored.approvals, onChange);
    let adding: Promise<void>;
    try {
      const source = createSource(settingsOf(stored), review);
      adding = registry.addSource(source, logger);
      this.set({ stored, open: { source, review } });
    } catch (error) {
      if (!isLLMError(error)) throw error;
      this.set({ stored, problem: error.message });
      return Promise.resolve();
    }
    return adding.catch((error: unknown) => {
      const known = this.servers.get(name);
      if (error instanceof MissingPackageError && known?.open?.review === review)
        this.set({ ...known, problem: error.message });
      if (error instanceof Error && error.cause instanceof SignInRequiredError)
        logger.info(`The tools of the MCP server "${name}" are listed once an administrator has signed in there.`);
      else logger.warn(`The tools of the MCP server "${name}" are not there yet.`, error);
      onChange();
    });
  }

  private problemOf({ name, config, secrets }: StoredMcpServer): string | undefined {
    if (this.ports.configured.has(name)) return 'The settings of the server define another one of this name.';
    if (secrets === undefined) return 'Its secrets cannot be read: their key is not there. Enter them again.';
    if (config.command !== undefined && !this.ports.allowCommands)
      return 'It is a program, which AI_MCP_COMMANDS does not permit.';
    return undefined;
  }

  /** Removes the server's tools at once. A connection that is still opening is closed once it is open. */
  private disconnect({ stored: { name }, open }: ManagedServer): void {
    if (open === undefined) return;
    const closing = this.ports.registry
      .removeSource(name)
      .catch((error: unknown) => this.ports.logger.warn(`The MCP server "${name}" was not closed properly.`, error))
      .finally(() => this.closing.delete(closing));
    this.closing.add(closing);
  }

  private set(server: ManagedServer): void {
    this.servers = new Map([...this.servers, [server.stored.name, server]]);
  }

  private forget(name: string): void {
    this.servers = new Map([...this.servers].filter(([each]) => each !== name));
  }
}
