/** Opens a connection to a server: transport, negotiation of the protocol's revision, subscription to changes. */
import type {
  Client,
  ClientOptions,
  JsonSchemaValidator,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import { consoleLogger } from '../../../log/consoleLogger';
import { explainMissingPackage } from '../../ai/domain/errors/explainMissingPackage';
import { LLMConnectionError, UnsupportedFeatureError } from '../../ai/domain/errors/LLMErrors';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { atMost } from '../../ai/domain/util/atMost';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { createMcpFetch } from './createMcpFetch';
import type { McpFetch } from './createMcpFetch';
import { SignInRequiredError } from './McpOAuth';
import type { McpOAuth } from './McpOAuth';
import { createPacedStdio } from './pacedStdio';
import { refreshOnce } from './refreshOnce';
import type { ElicitationAnswer } from './readElicitation';
import type { ReadMcpServerSettings } from './McpServerSettings';
import { carryTasks, TASKS_EXTENSION } from './taskMessages';
import { logStderr } from './logStderr';

export interface McpClientEvents {
  /** The server says that its tools have changed. */
  toolsChanged(): void;
  /** Answers a server of a revision before 2026-07-28 that asks the user. @param params of `elicitation/create` */
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
  // The client would register with the authorization server, for a sign-in that nobody has asked for.
  if (oauth?.isInteractive === false && !(await oauth.hasTokens())) throw new SignInRequiredError();
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
      await atMost(SESSION_END_MS, endSession?.() ?? Promise.resolve());
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
    const transport = createPacedStdio(StdioClientTransport, {
      command,
      args: [...args],
      env: { ...env },
      ...omitUndefined({ cwd }),
      stderr: 'pipe',
      maxBufferSize: maxMessageBytes,
    });
    logStderr(transport.stderr, name, logger);
    return { transport, release: () => undefined };
  }
  const { StreamableHTTPClientTransport: HttpTransport } = await importClient();
  const server = new URL(url);
  const fetch = createFetch(settings, server);
  const transport = new HttpTransport(server, {
    fetch: oauth === undefined ? fetch : refreshOnce(fetch, oauth),
    ...omitUndefined({ authProvider: oauth }),
    // Nobody is sent to the authorization server from here: it is for the call to say what is wanted.
    ...(oauth?.isInteractive === false ? { onInsufficientScope: 'throw' } : {}),
    reconnectionOptions: RECONNECTION,
  });
  const endSession = (): Promise<void> =>
    transport.terminateSession().catch((error: unknown) => {
      logger.debug(`The MCP server "${name}" has not ended its session.`, error);
    });
  return { transport, endSession, release: () => fetch.close() };
}

function createFetch(settings: ReadMcpServerSettings, server: URL): McpFetch {
  const { timeout, connectTimeout, headers = {}, allowPrivateHosts = false, maxMessageBytes } = settings;
  return createMcpFetch({
    allowPrivateHosts,
    timeout: Math.max(timeout, connectTimeout) + TIMEOUT_MARGIN_MS,
    maxMessageBytes,
    // Not to the authorization server, which the client uses the same function for.
    headersFor: (requested) => (requested.href === server.href ? headers : {}),
  });
}

async function withFetch(
  settings: ReadMcpServerSettings,
  oauth: McpOAuth,
  work: (fetch: ReturnType<typeof refreshOnce>) => Promise<unknown>,
): Promise<void> {
  const fetch = createFetch(settings, new URL(String(settings.url)));
  try {
    await work(refreshOnce(fetch, oauth));
  } finally {
    fetch.close();
  }
}

const NO_EVENTS: McpClientEvents = {
  toolsChanged: () => undefined,
  elicit: () => Promise.resolve({ action: 'decline' }),
  lost: () => undefined,
};

/** Sends the person to the authorization server. @throws what the client throws */
export async function beginOAuth(settings: ReadMcpServerSettings, logger: Logger, oauth: McpOAuth): Promise<void> {
  try {
    const opened = await openMcpClient(settings, NO_EVENTS, logger, oauth);
    await opened.close();
  } catch (error) {
    if (error instanceof Error && error.name === 'UnauthorizedError') return;
    throw error;
  }
  // It answers everybody, and may want an account for its tools.
  const { auth } = await importClient();
  await withFetch(settings, oauth, (fetch) => auth(oauth, { serverUrl: String(settings.url), fetchFn: fetch }));
}

/** Revokes the account's tokens, if the authorization server revokes any. @throws what fetching throws */
export async function revokeOAuth(settings: ReadMcpServerSettings, oauth: McpOAuth): Promise<void> {
  const request = await oauth.revocation();
  if (request === undefined) return;
  await withFetch(settings, oauth, async (fetch) => {
    const response = await fetch(request.url, request.init);
    await response.body?.cancel();
    if (!response.ok)
      throw new LLMConnectionError(`The authorization server has answered the revocation with ${response.status}.`);
  });
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
