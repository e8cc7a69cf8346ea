/** The plain-Node host: the HTTP API on Express. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ApiTokens } from '../imports/api/auth/ApiTokens';
import { MemoryApiTokenStore } from '../imports/api/auth/MemoryApiTokenStore';
import { createHttpApi } from '../imports/api/createHttpApi';
import { isLLMError, LLMInvalidRequestError } from '../imports/business/ai/domain/errors/LLMErrors';
import type { Environment } from '../imports/startup/settingsFromEnvironment';
import { moduleFromEnvironment, SIMULATION_NOTICE } from './moduleFromEnvironment';

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  readonly isSimulated: boolean;
  close(): Promise<void>;
}

/**
 * Reads PORT (default 3000), HOST (default 127.0.0.1), BOLIDE_API_TOKEN and the vendors' variables.
 * @throws LLMInvalidRequestError that names what is wrong with the environment
 */
export async function startServer(env: Environment): Promise<RunningServer> {
  const port = readPort(env['PORT']);
  const host = env['HOST'] ?? '127.0.0.1';
  const token = env['BOLIDE_API_TOKEN'] ?? randomBytes(24).toString('base64url');
  const tokens = new ApiTokens({ store: new MemoryApiTokenStore() });
  await tokens.adopt(token, { userId: 'local', name: 'local use', scopes: ['admin'] });
  const { module, simulator } = await moduleFromEnvironment(env);
  const app = express();
  app.disable('x-powered-by');
  const api = createHttpApi(module, { express, authenticate: tokens.authenticate });
  app.use(api.router);
  const server = createServer(SLOWEST_CLIENT, app);
  server.on('upgrade', (request, socket, head) => {
    if (!api.handleUpgrade(request, socket, head)) socket.destroy();
  });
  try {
    await listen(server, port, host);
  } catch (cause) {
    await simulator?.close();
    throw new LLMInvalidRequestError(`cannot listen on ${host}:${port}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause, path: 'PORT' });
  }
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    token,
    isSimulated: simulator !== undefined,
    async close() {
      // New connections are refused at once; what is being answered is answered.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await api.close();
      server.closeAllConnections();
      await closed;
      await simulator?.close();
    },
  };
}

/** Milliseconds; a client that sends its request byte by byte holds a connection, and nothing else, for so long. */
const SLOWEST_CLIENT = { headersTimeout: 10_000, requestTimeout: 120_000, connectionsCheckingInterval: 2_000 };

function readPort(value: string | undefined): number {
  if (value === undefined || value === '') return 3000;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LLMInvalidRequestError(`PORT is '${value}', which is no port number`, { path: 'PORT' });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function main(): Promise<void> {
  const running = await startServer(process.env);
  if (running.isSimulated) console.log(SIMULATION_NOTICE);
  console.log(`Bolide is ready at ${running.url} — API token for local use: ${running.token}`);
  const stop = (): void => {
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  });
}
