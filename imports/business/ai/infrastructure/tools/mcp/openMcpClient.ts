/** Opens a connection to a server: transport, negotiation of the protocol's revision, subscription to changes. */
import type {
  Client,
  ClientOptions,
  JsonSchemaValidator,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import { consoleLogger } from '../../../domain/consoleLogger';
import { explainMissingPackage } from '../../../domain/errors/explainMissingPackage';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import type { Logger } from '../../../domain/interfaces/Logger';
import { createMcpFetch } from './createMcpFetch';
import type { McpOAuth } from './McpOAuth';
import type { ElicitationAnswer } from './readElicitation';
import type { ReadMcpServerSettings } from './McpServerSettings';
import { carryTasks, TASKS_EXTENSION } from './taskMessages';
import { logStderr } from './logStderr';

export interface McpClientEvents {
  /** The server says that its tools have changed. */
  toolsChanged(): void;
  /** Of a server of the revisions before 2026-07-28, which asks a person. @param params of `elicitation/create` */
  elicit(client: Client, params: unknown): Promise<ElicitationAnswer>;
  /** The connection has ended, or no longer tells of changes. */
  lost(): void;
}

export interface OpenMcpClient {
  readonly client: Client;
  close(): Promise<void>;
}

const PACKAGE = '@modelcontextprotocol/client';
/** The client would compile the server's schemas on the event loop; Bolide checks results in a thread. */
const NO_VALIDATION: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};
const LIST_CHANGE_DEBOUNCE_MS = 300;
/** The stream of notifications is opened again for as long as the server lives. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 60_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: Number.MAX_SAFE_INTEGER,
};
/** Between the client's own time limit and that of the socket. */
const TIMEOUT_MARGIN_MS = 5_000;
/** A server that does not answer must not hold up a shutdown. */
const SESSION_END_MS = 1_000;

/** @throws MissingPackageError, and what the client throws if the server cannot be reached or refuses */
export async function openMcpClient(
  settings: ReadMcpServerSettings,
  events: McpClientEvents,
  logger: Logger,
  oauth: McpOAuth | undefined,
): Promise<OpenMcpClient> {
  const { Client } = await importClient();
  const { connectTimeout } = settings;
  const client = new Client(
    { name: 'bolide', title: 'Bolide', version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, extensions: { [TASKS_EXTENSION]: {} } },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: connectTimeout } },
      jsonSchemaValidator: NO_VALIDATION,
      inputRequired: { autoFulfill: false },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: LIST_CHANGE_DEBOUNCE_MS, onChanged: () => events.toolsChanged() },
      },
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await events.elicit(client, params)) }));
  const { transport, endSession, release } = await createTransport(settings, logger, oauth);
  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = true;
    try {
      await atMost(SESSION_END_MS, endSession?.());
      await client.close();
    } finally {
      release();
    }
  };
  client.onerror = (error) => logger.debug(`MCP server "${settings.name}": ${error.message}`);
  client.onclose = () => {
    if (!isClosed) events.lost();
  };
  try {
    await client.connect(transport, { timeout: connectTimeout });
    carryTasks(transport);
  } catch (error) {
    await close();
    throw error;
  }
  void client.autoOpenedSubscription?.closed.then((reason) => {
    if (reason !== 'local' && !isClosed) events.lost();
  });
  return { client, close };
}

interface OpenTransport {
  readonly transport: Transport;
  /** Tells the server that its session is over. Never rejects. */
  readonly endSession?: () => Promise<void>;
  readonly release: () => void;
}

async function createTransport(
  settings: ReadMcpServerSettings,
  logger: Logger,
  oauth: McpOAuth | undefined,
): Promise<OpenTransport> {
  const { name, url, command = '', args = [], env = {}, cwd, maxMessageBytes } = settings;
  if (url === undefined) {
    const { StdioClientTransport } = await importStdio();
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stderr: 'pipe',
      maxBufferSize: maxMessageBytes,
    });
    logStderr(transport.stderr, name, logger);
    return { transport, release: () => undefined };
  }
  const { StreamableHTTPClientTransport: HttpTransport } = await importClient();
  const { timeout, connectTimeout, headers = {}, allowPrivateHosts = false } = settings;
  const server = new URL(url);
  const fetch = createMcpFetch({
    allowPrivateHosts,
    timeout: Math.max(timeout, connectTimeout) + TIMEOUT_MARGIN_MS,
    maxMessageBytes,
    // Not to the authorization server, which the client uses the same function for.
    headersFor: (requested) => (requested.href === server.href ? headers : {}),
  });
  const transport = new HttpTransport(server, {
    fetch,
    ...(oauth === undefined ? {} : { authProvider: oauth }),
    reconnectionOptions: RECONNECTION,
  });
  const endSession = (): Promise<void> =>
    transport.terminateSession().catch((error: unknown) => {
      logger.debug(`The MCP server "${name}" has not ended its session.`, error);
    });
  return { transport, endSession, release: () => fetch.close() };
}

/** Exchanges the authorization server's answer for tokens. @throws what the client throws */
export async function finishOAuth(
  settings: ReadMcpServerSettings,
  oauth: McpOAuth,
  callback: URLSearchParams,
): Promise<void> {
  const { transport, release } = await createTransport(settings, consoleLogger, oauth);
  try {
    // Checks the issuer before it reads anything else.
    if ('finishAuth' in transport) await (transport as StreamableHTTPClientTransport).finishAuth(callback);
  } finally {
    release();
  }
}

/** Resolves with the work, or without it. @param milliseconds that it may take */
async function atMost(milliseconds: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

async function importClient(): Promise<typeof import('@modelcontextprotocol/client')> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    throw explainMissingPackage(error, PACKAGE, 'An MCP server');
  }
}

/** The package itself has been found by now. */
async function importStdio(): Promise<typeof import('@modelcontextprotocol/client/stdio')> {
  try {
    return await import('@modelcontextprotocol/client/stdio');
  } catch (cause) {
    throw new UnsupportedFeatureError(
      "The bundler has left out the MCP client's part for stdio, as Meteor's classic bundler does. Use a server with a URL, or Rspack.",
      { cause },
    );
  }
}
