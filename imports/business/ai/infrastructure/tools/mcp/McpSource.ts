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
import { LLMInvalidRequestError, ToolError } from '../../../domain/errors/LLMErrors';
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { SourceTool, ToolSource } from '../../../domain/interfaces/ToolSource';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { findHeaderFault } from './findHeaderFault';
import { McpConnection } from './McpConnection';
import type { McpHealth } from './McpConnection';
import { readMcpServerSettings } from './McpServerSettings';
import type { McpServerSettings, ReadMcpServerSettings } from './McpServerSettings';
import { McpOAuth } from './McpOAuth';
import { finishOAuth, openMcpClient } from './openMcpClient';
import { McpElicitations } from './McpElicitations';
import { McpToolCall } from './McpToolCall';
import { readMcpResult } from './readMcpResult';
import { readMcpTools, settingsOf } from './readMcpTools';

export interface McpSourcePorts {
  readonly logger: Logger;
  /** Checks structured content against the server's schema, within a time limit. @returns what is wrong */
  readonly findViolations: (schema: JsonObject, value: unknown, userId: string) => Promise<readonly string[]>;
  /** Milliseconds after the first failure to connect; default 1,000. */
  readonly retryDelay?: number;
}

/** Pages of a list that are read. */
const MAX_PAGES = 100;
/** Reasons for leaving tools out that are logged for one list. */
const MAX_SKIPS_LOGGED = 10;

export class McpSource implements ToolSource {
  readonly name: string;
  private readonly settings: ReadMcpServerSettings;
  private readonly ports: McpSourcePorts;
  private readonly connection: McpConnection;
  private readonly oauth: McpOAuth | undefined;
  private readonly elicitations: McpElicitations;
  private readonly listeners = new Set<() => void>();

  /** Connects when it is first used. @throws LLMInvalidRequestError, whose `path` names the invalid field */
  constructor(settings: McpServerSettings, ports: McpSourcePorts) {
    this.settings = readMcpServerSettings(settings);
    this.name = settings.name;
    this.ports = ports;
    this.elicitations = new McpElicitations(this.name);
    const { oauth, url } = this.settings;
    this.oauth = oauth === undefined || url === undefined ? undefined : new McpOAuth(oauth, new URL(url).href);
    this.connection = new McpConnection({
      name: this.name,
      open: (events) => openMcpClient(this.settings, events, ports.logger, this.oauth),
      logger: ports.logger,
      onChange: () => {
        for (const listener of this.listeners) listener();
      },
      onElicit: (client, params) => this.elicitations.answer(client, params),
      ...(ports.retryDelay === undefined ? {} : { retryDelay: ports.retryDelay }),
    });
  }

  get health(): McpHealth {
    return this.connection.health;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
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
   * Ends a sign-in that `oauth.onAuthorize` was told to begin, in any process, and connects.
   * @param callback the parameters with which the authorization server sent the person back
   * @throws LLMInvalidRequestError for an answer to no sign-in of this account, and what the server's client throws
   */
  async finishAuthorization(callback: URLSearchParams): Promise<void> {
    const { oauth, settings } = this;
    if (oauth === undefined || settings.url === undefined)
      throw new LLMInvalidRequestError(`The MCP server "${this.name}" has no "oauth".`, { path: 'oauth' });
    await oauth.assertState(callback.get('state'));
    await finishOAuth(settings, oauth, callback);
    this.connection.retry();
  }

  close(): Promise<void> {
    this.listeners.clear();
    return this.connection.close();
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
    const { name: server, connection, elicitations, settings } = this;
    const { timeout, taskTimeout } = settings;
    const { logger } = this.ports;
    const waitsForTasks = settingsOf(tool.name, settings).blocking === true;
    const ports = { server, connection, elicitations, logger, timeout, taskTimeout, waitsForTasks };
    const result = await new McpToolCall(ports, tool, args, context).run();
    if (outputSchema !== undefined && result.isError !== true)
      await this.assertStructured(result, outputSchema, context.userId);
    return readMcpResult(result);
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
