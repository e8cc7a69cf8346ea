/**
 * `npx bolide mcp`: the tools of MCP_TOOLS for a client that starts this program and speaks with it over standard input
 * and output, as MCP_USER. It is a process of the server without HTTP: it shares its database and executes runs.
 */
import { Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { createMcpServer } from '../../business/mcp/api/createMcpServer';
import { toMcpCaller } from '../../business/mcp/api/McpCaller';
import { consoleLogger } from '../../log/consoleLogger';
import { isLLMError, LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { toToolRegistry } from '../../business/ai/infrastructure/tools/toToolRegistry';
import { closeOnSignals } from '../closeOnSignals';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { openSettings } from '../moduleFromEnvironment';
import { processEnvironment } from '../settings/environment';
import { listenedUrl } from '../settings/nodeSettings';
import { readServerSettings } from '../settings/server';
import { DEFAULT_SHUTDOWN_GRACE_MS } from '../settings/host';
import { exitOnLoss } from './exitOnLoss';
import { openFreeDatabase } from './openFreeDatabase';
import { openLog } from './openLog';
import { readSecretKeys } from './readSecretKeys';
import type { ServerOptions } from './startServer';

export type McpProgramOptions = Pick<ServerOptions, 'env' | 'tools'>;

/** Ends the process: with 0 when the client is gone, and with 1 if it cannot start or has lost its database. */
export async function runMcp(options: McpProgramOptions): Promise<void> {
  const output = reserveOutput();
  try {
    await openLog({ env: options.env ?? processEnvironment(), isTerminal: process.stderr.isTTY });
    const program = await serve(options, output);
    const { close, graceMs } = program;
    closeOnSignals({ close, graceMs });
    exitOnLoss(program);
    // Requests of a client that is gone have nobody to answer.
    process.stdin.once('end', () => {
      const hurry = AbortSignal.abort();
      close(hurry).then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    });
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): never {
  console.error(isLLMError(error) ? error.message : error);
  process.exit(1);
}

/** Standard output is the protocol's: whatever else is written to it goes to standard error. */
function reserveOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk, done);
    },
  });
}

async function serve(
  { env = processEnvironment(), tools = [] }: McpProgramOptions,
  output: Writable,
): Promise<{
  readonly host: Host;
  readonly close: (hurry?: AbortSignal) => Promise<void>;
  readonly graceMs: number;
}> {
  const { hostName, port, rootUrl = listenedUrl(hostName, port), mcpUser, host: settings } = readServerSettings(env);
  if (settings.mcp === undefined || settings.mcp.tools.length === 0)
    throw new LLMInvalidRequestError(
      'Nothing is offered over MCP. Set MCP_TOOLS to names of tools, such as MCP_TOOLS=get_weather,docs_*.',
      { path: 'MCP_TOOLS' },
    );
  const registry = toToolRegistry(tools);
  const { settings: ai, simulator } = await openSettings(env);
  const database = await openFreeDatabase(env);
  const host = await createHost(
    { ai, secretKeys: await readSecretKeys(env), rootUrl, ...settings },
    {
      database,
      authenticate: () => undefined,
      findUser: () => Promise.resolve(undefined),
      ai: { tools: registry },
    },
  ).catch(async (error: unknown) => {
    await database.close();
    await simulator?.close();
    throw error;
  });
  const { mcp } = host.api;
  // Something is offered.
  if (mcp === undefined) throw new Error('The host offers nothing over MCP.');
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const closing = new AbortController();
  const caller = toMcpCaller({ userId: mcpUser, scopes: ['generate', 'read', 'approve'] }, closing.signal);
  const servers = new Set<McpServer>();
  const onError = (error: unknown): void => consoleLogger.debug('MCP:', error);
  const connection = serveStdio(
    () => {
      const server = createMcpServer(mcp, { caller, tellsChanges: true });
      servers.add(server);
      return server;
    },
    { transport: new StdioServerTransport(process.stdin, output), onerror: onError },
  );
  const stop = registry.onChange(() => {
    for (const server of servers) if (server.isConnected()) server.server.sendToolListChanged().catch(onError);
  });
  let closed: Promise<void> | undefined;
  const close = async (hurry?: AbortSignal): Promise<void> => {
    stop();
    closing.abort();
    await connection.close();
    await host.close(hurry);
    await simulator?.close();
  };
  return {
    host,
    close: (hurry) => (closed ??= close(hurry)),
    graceMs: settings.shutdownGraceMs ?? DEFAULT_SHUTDOWN_GRACE_MS,
  };
}
