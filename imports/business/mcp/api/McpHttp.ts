/**
 * Streamable HTTP: requests of the revision 2026-07-28 stand alone. Those of earlier revisions belong to a session
 * where no other process can receive them, which lets the server ask the client and tell it of changes; otherwise they
 * stand alone, too.
 */
import { randomUUID } from 'node:crypto';
import type {
  CreateMcpHandlerOptions,
  McpHttpHandler,
  McpRequestContext,
  McpServer,
  ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { fieldsOf, isList } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { ToolRegistry } from '../../ai/infrastructure/tools/ToolRegistry';
import { createMcpServer, MAX_WATCHED } from './createMcpServer';
import type { McpServerPorts } from './createMcpServer';
import { toAuthInfo } from './McpCaller';
import type { McpCaller } from './McpCaller';
import { McpResourceReader } from './McpResourceReader';

export interface McpHttpPorts extends McpServerPorts {
  readonly registry: Pick<ToolRegistry, 'onChange'>;
  /** No other process receives requests of the same clients. */
  readonly isAlone: boolean;
  /** Milliseconds without an event on a stream after which a comment is sent. */
  readonly keepAliveAfter: number;
}

interface Session {
  readonly owner: string;
  readonly userId: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedAt: number;
  /** Requests in progress, among them open streams. */
  open: number;
}

/** Milliseconds after which an unused session ends. */
const SESSION_IDLE_MS = 30 * 60_000;
/** The most sessions of one user. A further one ends the least recently used. */
const MAX_SESSIONS = 32;
const MAX_SUBSCRIPTIONS = 10_000;
/** Tools come and go together. */
const CHANGE_DEBOUNCE_MS = 50;

export class McpHttp {
  private readonly ports: McpHttpPorts;
  private readonly handler: McpHttpHandler;
  private readonly reader: McpResourceReader | undefined;
  private readonly sessions = new Map<string, Session>();
  private readonly unsubscribe: () => void;
  private readonly sweeper: ReturnType<typeof setInterval>;
  private change: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: McpHttpPorts) {
    this.ports = ports;
    const { sdk, tools, resources } = ports;
    this.handler = this.createHandler();
    this.reader = resources && new McpResourceReader({ sdk, tools, resources });
    this.unsubscribe = ports.registry.onChange(() => {
      this.change ??= setTimeout(() => this.tellOfChange(), CHANGE_DEBOUNCE_MS);
    });
    this.sweeper = setInterval(() => this.endIdle(), 60_000);
    this.sweeper.unref();
  }

  /** @param body the parsed body of a POST request */
  async handle(request: Request, body: unknown, caller: McpCaller): Promise<Response> {
    const { sdk, isAlone, tasks } = this.ports;
    const ofTask = await tasks?.answer(request.headers, body, caller);
    if (ofTask !== undefined) return ofTask;
    const options = omitUndefined({ authInfo: toAuthInfo(caller), parsedBody: body });
    const uris = this.reader === undefined ? [] : watchedIn(body);
    if (this.reader !== undefined && uris.length > 0)
      return this.listen(request, options, { reader: this.reader, uris, caller });
    if (!isAlone || !(await sdk.isLegacyRequest(request, body))) return this.handler.fetch(request, options);
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = this.sessions.get(id);
      // Clients that are told this begin anew.
      if (session === undefined || session.owner !== ownerOf(caller)) return sessionNotFound();
      return this.handleIn(session, request, options);
    }
    const begins = [body].flat().some((message) => sdk.isInitializeRequest(message));
    if (!begins) return this.handler.fetch(request, options);
    return this.handleIn(await this.begin(caller), request, options);
  }

  async endUser(userId: string): Promise<void> {
    const theirs = [...this.sessions].filter(([, session]) => session.userId === userId);
    await Promise.all(theirs.map(([id]) => this.end(id)));
  }

  async close(): Promise<void> {
    this.unsubscribe();
    clearInterval(this.sweeper);
    clearTimeout(this.change);
    await Promise.all([...this.sessions.keys()].map((id) => this.end(id)));
    await this.handler.close();
  }

  private createHandler(options: Pick<CreateMcpHandlerOptions, 'bus'> = {}): McpHttpHandler {
    const { sdk, logger, keepAliveAfter, tasks } = this.ports;
    return sdk.createMcpHandler(
      ({ era }: McpRequestContext) =>
        createMcpServer(this.ports, {
          tellsChanges: era === 'modern',
          hasTasks: era === 'modern' && tasks !== undefined,
        }),
      {
        ...options,
        onerror: (error) => logger.debug('MCP:', error),
        keepAliveMs: keepAliveAfter,
        maxSubscriptions: MAX_SUBSCRIPTIONS,
      },
    );
  }

  /**
   * Serves a stream of changes that tells of resources. It has events of its own: the same address is another user's
   * resource for another caller.
   */
  private async listen(
    request: Request,
    options: Parameters<McpHttpHandler['fetch']>[1],
    { reader, uris, caller }: WatchedResources,
  ): Promise<Response> {
    const { sdk, logger } = this.ports;
    const bus = new sdk.InMemoryServerEventBus((error) => logger.debug('MCP:', error));
    const watched: (() => void)[] = [];
    const stop = (): void => watched.splice(0).forEach((end) => end());
    request.signal.addEventListener('abort', stop, { once: true });
    try {
      for (const uri of uris) {
        watched.push(await reader.watch(uri, caller, () => bus.publish({ kind: 'resource_updated', uri })));
        if (request.signal.aborted) stop();
      }
    } catch (error) {
      stop();
      if (!(error instanceof sdk.ProtocolError)) throw error;
      const { code, message } = error;
      return Response.json({
        jsonrpc: '2.0',
        id: fieldsOf(options?.parsedBody)['id'] ?? null,
        error: { code, message },
      });
    }
    return this.createHandler({ bus: joined(bus, this.handler.bus) }).fetch(request, options);
  }

  private async handleIn(
    session: Session,
    request: Request,
    options: Parameters<WebStandardStreamableHTTPServerTransport['handleRequest']>[1],
  ): Promise<Response> {
    session.lastUsedAt = Date.now();
    session.open += 1;
    let isOpen = true;
    const leave = (): void => {
      if (!isOpen) return;
      isOpen = false;
      session.open -= 1;
      session.lastUsedAt = Date.now();
    };
    try {
      const response = await session.transport.handleRequest(request, options);
      if (response.body === null || request.signal.aborted) leave();
      else request.signal.addEventListener('abort', leave, { once: true });
      return response;
    } catch (error) {
      leave();
      throw error;
    }
  }

  private async begin(caller: McpCaller): Promise<Session> {
    const { sdk, keepAliveAfter } = this.ports;
    const owner = ownerOf(caller);
    const theirs = [...this.sessions].filter(([, { userId }]) => userId === caller.actor.userId);
    const [oldest] = theirs.sort(([, one], [, other]) => one.lastUsedAt - other.lastUsedAt);
    if (oldest !== undefined && theirs.length >= MAX_SESSIONS) await this.end(oldest[0]);
    const server = createMcpServer(this.ports, { tellsChanges: true, keepsSubscriptions: true });
    const id = randomUUID();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => void this.sessions.set(id, session),
      onsessionclosed: () => void this.sessions.delete(id),
      keepAliveMs: keepAliveAfter,
    });
    const session = { owner, userId: caller.actor.userId, server, transport, lastUsedAt: Date.now(), open: 0 };
    await server.connect(transport);
    return session;
  }

  private async end(id: string): Promise<void> {
    const session = this.sessions.get(id);
    this.sessions.delete(id);
    await session?.server.close();
  }

  private endIdle(): void {
    const before = Date.now() - SESSION_IDLE_MS;
    for (const [id, { lastUsedAt, open }] of this.sessions)
      if (open === 0 && lastUsedAt < before)
        this.end(id).catch((error: unknown) => this.ports.logger.debug('MCP:', error));
  }

  private tellOfChange(): void {
    this.change = undefined;
    this.handler.notify.toolsChanged();
    for (const { server } of this.sessions.values())
      server.server.sendToolListChanged().catch((error: unknown) => this.ports.logger.debug('MCP:', error));
  }
}

interface WatchedResources {
  readonly reader: McpResourceReader;
  readonly uris: readonly string[];
  readonly caller: McpCaller;
}

/** The resources that a request for a stream of changes names. */
function watchedIn(body: unknown): readonly string[] {
  const { method, params } = fieldsOf(body);
  if (method !== 'subscriptions/listen') return [];
  const { resourceSubscriptions: uris } = fieldsOf(fieldsOf(params)['notifications']);
  return isList(uris) ? uris.filter((uri) => typeof uri === 'string').slice(0, MAX_WATCHED) : [];
}

/** A bus whose listeners are told of the events of both. */
function joined(own: ServerEventBus, shared: ServerEventBus): ServerEventBus {
  return {
    publish: (event) => own.publish(event),
    subscribe(listener) {
      const ends = [own.subscribe(listener), shared.subscribe(listener)];
      return () => ends.forEach((end) => end());
    },
  };
}

/** A session is the caller's who began it: by the user, and the token. */
function ownerOf({ actor: { userId, tokenId = '' } }: McpCaller): string {
  return JSON.stringify([userId, tokenId]);
}

function sessionNotFound(): Response {
  const error = { code: -32_001, message: 'There is no such session. Send "initialize" to begin one.' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
