/** One MCP server: its tools as a source for the registry, and its resources and prompts to read. */
import type {
  CallToolResult,
  Client,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  RequestOptions,
  Resource,
  Tool,
} from '@modelcontextprotocol/client';
import { LLMInvalidRequestError, ToolError } from '../../ai/domain/errors/LLMErrors';
import type { ToolCallContext } from '../../ai/domain/interfaces/IToolExecutor';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { SourceTool, ToolSource } from '../../ai/domain/interfaces/ToolSource';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { findHeaderFault } from './findHeaderFault';
import type { McpCallPorts } from './McpCallPorts';
import { McpConnection } from './McpConnection';
import type { McpHealth } from './McpConnection';
import { readMcpServerSettings } from './McpServerSettings';
import type { McpServerSettings, ReadMcpServerSettings } from './McpServerSettings';
import { McpOAuth } from './McpOAuth';
import type { McpAccountStore } from './McpOAuth';
import { beginOAuth, finishOAuth, openMcpClient, revokeOAuth } from './openMcpClient';
import { McpElicitations } from './McpElicitations';
import { McpToolCall } from './McpToolCall';
import type { McpToolPolicy } from './McpToolPolicy';
import { readMcpResult } from './readMcpResult';
import { readMcpTools, settingsOf } from './readMcpTools';
import { UserConnections } from './UserConnections';
import type { UserConnection } from './UserConnections';
import { watching } from '../../ai/domain/util/watching';

export interface McpSourcePorts {
  readonly logger: Logger;
  /** Checks structured content against the server's schema, within a time limit. @returns what is wrong */
  readonly findViolations: (schema: JsonObject, value: unknown, userId: string) => Promise<readonly string[]>;
  /** Milliseconds after the first failure to connect; default 1,000. */
  readonly retryDelay?: number;
  /** Default: all tools of the settings are offered. */
  readonly policy?: McpToolPolicy | undefined;
}

/** Pages of a list that are read. */
const MAX_PAGES = 100;
/** Reasons for leaving tools out that are logged for one list. */
const MAX_SKIPS_LOGGED = 10;

export class McpSource implements ToolSource {
  readonly name: string;
  private readonly settings: ReadMcpServerSettings;
  private readonly ports: McpSourcePorts;
  private readonly main: UserConnection;
  private readonly oauth: McpOAuth | undefined;
  /** Absent: all users' calls go over the main connection. */
  private readonly users: UserConnections | undefined;
  private readonly listeners = new Set<() => void>();

  /** Connects when it is first used. @throws LLMInvalidRequestError, whose `path` names the invalid field */
  constructor(settings: McpServerSettings, ports: McpSourcePorts) {
    this.settings = readMcpServerSettings(settings);
    this.name = settings.name;
    this.ports = ports;
    const storeOf = this.settings.oauth?.storeOf;
    this.oauth = this.createOAuth();
    this.main = this.createConnection(this.oauth, () => this.notify());
    if (storeOf !== undefined)
      this.users = new UserConnections(
        // Tools are listed with the main connection alone.
        (userId) => this.createConnection(this.createOAuth(storeOf(userId)), () => undefined),
        (error) => ports.logger.warn(`A connection to the MCP server "${this.name}" was not closed properly.`, error),
      );
  }

  private get connection(): McpConnection {
    return this.main.connection;
  }

  get health(): McpHealth {
    return this.connection.health;
  }

  onChange(listener: () => void): () => void {
    const safe = watching('onChange', listener, this.ports.logger);
    this.listeners.add(safe);
    return () => this.listeners.delete(safe);
  }

  /** @throws LLMConnectionError, and what the server's client throws */
  async list(): Promise<readonly SourceTool[]> {
    const skipped: string[] = [];
    const listed = await this.connection.use(async (client) => {
      const all = await this.listTools(client);
      if (this.settings.url === undefined || client.getProtocolEra() !== 'modern') return all;
      return all.filter(({ name, inputSchema }) => {
        const fault = findHeaderFault(inputSchema);
        if (fault !== undefined) skipped.push(`"${name.slice(0, 100)}": ${fault}`);
        return fault === undefined;
      });
    });
    const tools = readMcpTools(
      listed,
      this.settings,
      (tool) => (args, context) => this.call(tool, args, context),
      (name, reason) => skipped.push(`"${name}": ${reason}`),
      this.ports.policy,
    );
    for (const each of skipped.slice(0, MAX_SKIPS_LOGGED))
      this.ports.logger.warn(`A tool of the MCP server "${this.name}" is left out: ${each}.`);
    if (skipped.length > MAX_SKIPS_LOGGED)
      this.ports.logger.warn(`${skipped.length} tools of the MCP server "${this.name}" are left out.`);
    return tools;
  }

  /** @throws LLMConnectionError, and what the server's client throws */
  listResources(): Promise<readonly Resource[]> {
    return this.connection.use((client) =>
      this.readPages(client.getServerCapabilities()?.resources, async (cursor) => {
        const page = await client.request({ method: 'resources/list', params: cursor }, this.requestOptions());
        return { items: page.resources, nextCursor: page.nextCursor };
      }),
    );
  }

  /** @throws LLMConnectionError, and what the server's client throws */
  async readResource(uri: string): Promise<ReadResourceResult['contents']> {
    const { contents } = await this.connection.use((client) =>
      client.readResource({ uri }, { ...this.requestOptions(), cacheMode: 'bypass' }),
    );
    return contents;
  }

  /** @throws LLMConnectionError, and what the server's client throws */
  listPrompts(): Promise<readonly Prompt[]> {
    return this.connection.use((client) =>
      this.readPages(client.getServerCapabilities()?.prompts, async (cursor) => {
        const page = await client.request({ method: 'prompts/list', params: cursor }, this.requestOptions());
        return { items: page.prompts, nextCursor: page.nextCursor };
      }),
    );
  }

  /** @throws LLMConnectionError, and what the server's client throws */
  getPrompt(name: string, args: Readonly<Record<string, string>> = {}): Promise<GetPromptResult> {
    return this.connection.use((client) => client.getPrompt({ name, arguments: { ...args } }, this.requestOptions()));
  }

  /**
   * Begins a sign-in: `oauth.onAuthorize` is told where the person is to go.
   * @throws LLMConnectionError, and what the server's client throws
   */
  async beginAuthorization(): Promise<void> {
    await beginOAuth(this.settings, this.ports.logger, this.requireOAuth());
  }

  /**
   * Revokes the tokens of the source's account, if its authorization server revokes any. They stay in the store.
   * @throws LLMConnectionError
   */
  async revokeAuthorization(): Promise<void> {
    await revokeOAuth(this.settings, this.requireOAuth());
  }

  /**
   * Ends a sign-in that `oauth.onAuthorize` was told to begin, in any process, and connects.
   * @param callback the parameters with which the authorization server sent the person back
   * @throws LLMInvalidRequestError for an answer to no sign-in of this account, and what the server's client throws
   */
  async finishAuthorization(callback: URLSearchParams): Promise<void> {
    const oauth = this.requireOAuth();
    await oauth.assertState(callback.get('state'));
    await finishOAuth(this.settings, oauth, callback);
    this.connection.retry();
  }

  /** What may be offered has changed: subscribers list the tools again. */
  notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** The user has signed in or out: the next call is made with the account that there is then. */
  forgetUser(userId: string): void {
    this.users?.forget(userId);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await Promise.all([this.connection.close(), this.users?.close()]);
  }

  private requireOAuth(): McpOAuth {
    if (this.oauth !== undefined) return this.oauth;
    throw new LLMInvalidRequestError(`The MCP server "${this.name}" has no "oauth".`, { path: 'oauth' });
  }

  /** @param store default: of the account that the tools are listed with */
  private createOAuth(store?: McpAccountStore): McpOAuth | undefined {
    const { oauth, url, allowPrivateHosts = false } = this.settings;
    if (oauth === undefined || url === undefined) return undefined;
    const { onAuthorize, ...forUsers } = oauth;
    // A person is sent to the authorization server for the source's own account alone.
    const settings = store === undefined ? oauth : { ...forUsers, store };
    return new McpOAuth(settings, new URL(url).href, allowPrivateHosts);
  }

  private createConnection(oauth: McpOAuth | undefined, onChange: () => void): UserConnection {
    const { logger, retryDelay } = this.ports;
    const elicitations = new McpElicitations(this.name);
    const connection = new McpConnection({
      name: this.name,
      open: (events) => openMcpClient(this.settings, events, logger, oauth),
      logger,
      onChange,
      onElicit: (client, params) => elicitations.answer(client, params),
      retryDelay,
    });
    return { connection, elicitations };
  }

  private listTools(client: Client): Promise<readonly Tool[]> {
    return this.readPages(client.getServerCapabilities()?.tools, async (cursor) => {
      const page = await client.request({ method: 'tools/list', params: cursor }, this.requestOptions());
      return { items: page.tools, nextCursor: page.nextCursor };
    });
  }

  /**
   * Page by page: the client's own walk has no limit on what it keeps.
   * @param capability undefined if the server has nothing of the kind
   */
  private async readPages<Item>(
    capability: object | undefined,
    read: (params: { cursor?: string }) => Promise<{ items: readonly Item[]; nextCursor: string | undefined }>,
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    // More than the server may offer, because some may be filtered.
    const maxItems = this.settings.maxTools * 10;
    for (let page = 0; capability !== undefined && page < MAX_PAGES && items.length < maxItems; page += 1) {
      const { items: next, nextCursor } = await read(cursor === undefined ? {} : { cursor });
      items.push(...next.slice(0, maxItems - items.length));
      if (nextCursor === undefined || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items;
  }

  /** @throws ToolError, and what the server's client throws */
  private async call(tool: Tool, args: unknown, context: ToolCallContext): Promise<unknown> {
    const { outputSchema } = tool;
    const { name: server, settings, users } = this;
    const { timeout, taskTimeout } = settings;
    const { logger, policy } = this.ports;
    policy?.assertPermitted(tool);
    const waitsForTasks = settingsOf(tool.name, settings, policy).blocking === true;
    const use: McpCallPorts['use'] = (requests) => {
      const over = ({ connection, elicitations }: UserConnection): ReturnType<typeof requests> =>
        connection.use((client) => requests(client, elicitations), context.userId);
      return users === undefined ? over(this.main) : users.use(context.userId, over);
    };
    const demandScope = (scope: string): Promise<string | undefined> => this.demandScope(scope, context.userId);
    const ports = { server, use, demandScope, logger, timeout, taskTimeout, waitsForTasks };
    const result = await new McpToolCall(ports, tool, args, context).run();
    if (outputSchema !== undefined && result.isError !== true)
      await this.assertStructured(result, outputSchema, context.userId);
    return readMcpResult(result);
  }

  private async demandScope(scope: string, userId: string): Promise<string | undefined> {
    const { storeOf, signInUrl } = this.settings.oauth ?? {};
    const oauth = storeOf === undefined ? this.oauth : this.createOAuth(storeOf(userId));
    await oauth?.demandScope(scope);
    return signInUrl;
  }

  /** https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema */
  private async assertStructured(result: CallToolResult, schema: JsonObject, userId: string): Promise<void> {
    const { structuredContent } = result;
    const violations =
      structuredContent === undefined
        ? ['there is no structured content']
        : await this.ports.findViolations(schema, structuredContent, userId);
    if (violations.length > 0)
      throw new ToolError(
        'threw',
        `The tool ran, but its result is not what the MCP server "${this.name}" has promised: ${violations.join('; ')}`,
      );
  }

  private requestOptions(): RequestOptions {
    return { timeout: this.settings.timeout };
  }
}
