/** The HTTP API on Express over the vendor simulator, with every vendor behind it, under the vendors' names. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ApiTokens } from '../../imports/api/auth/ApiTokens';
import { MemoryApiTokenStore } from '../../imports/api/auth/MemoryApiTokenStore';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApi, HttpApiPorts } from '../../imports/api/createHttpApi';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { ProviderSettings } from '../../imports/business/ai/infrastructure/factories/LLMProviderFactory';
import { CANARY } from './canaries';
import type { Simulator, SimulatorOptions } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

export interface GatewayOptions {
  readonly simulator?: SimulatorOptions;
  /** What differs from the usual row of every vendor. */
  readonly row?: Partial<ProviderSettings>;
  readonly providers?: (simulator: Simulator) => readonly ProviderSettings[];
  /** Attempts at one provider. Default 1, so that an error is seen at once; no number of them closes a circuit. */
  readonly attempts?: number;
  readonly api?: Partial<HttpApiPorts>;
}

export interface Asking extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Gateway {
  readonly url: string;
  readonly simulator: Simulator;
  readonly module: AIModule;
  readonly api: HttpApi;
  readonly server: Server;
  /** What happened that was nobody's mistake. */
  readonly unexpected: readonly unknown[];
  /** As `fetch`, with ann's token and a JSON body unless told otherwise. */
  ask(path: string, body?: unknown, init?: Asking): Promise<Response>;
  close(): Promise<void>;
}

/** Tokens by whose they are; the last two hold one scope each. */
export const TOKENS = {
  ann: `${CANARY}-of-ann`,
  bob: `${CANARY}-of-bob`,
  admin: `${CANARY}-of-admin`,
  reader: `${CANARY}-of-reader`,
  generator: `${CANARY}-of-generator`,
} as const;

export function simulatedRow(simulator: Simulator, vendor: ProviderSettings['vendor']): ProviderSettings {
  return {
    id: vendor,
    vendor,
    apiKey: `upstream-${CANARY}`,
    baseURL: simulator.baseURL(vendor),
    allowPrivateHosts: true,
    defaultModel: 'default-model',
  };
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const simulator = await startSimulator(options.simulator);
  const rows =
    options.providers?.(simulator) ?? VENDORS.map((vendor) => ({ ...simulatedRow(simulator, vendor), ...options.row }));
  const made = createAIModule({ providers: rows, defaultProvider: rows[0]!.id });
  const manager = new LLMManager({
    directory: made.providers,
    toolExecutor: made.tools,
    retry: { maxAttempts: options.attempts ?? 1, breakerFailures: 1_000_000 },
  });
  const module = { ...made, manager };
  const unexpected: unknown[] = [];
  const api = createHttpApi(module, {
    express,
    authenticate: (await tokensOfTests()).authenticate,
    onUnexpected: (error) => unexpected.push(error),
    ...options.api,
  });
  const app = express();
  app.use(api.router);
  const server = createServer(app);
  // Client and server share an event loop: after a long task Node's 5 s would close sockets that a request is just
  // being sent over.
  server.keepAliveTimeout = 60_000;
  server.on('upgrade', (request, socket, head) => {
    if (!api.handleUpgrade(request, socket, head)) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address with one.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    simulator,
    module,
    api,
    server,
    unexpected,
    ask: (path, body, init = {}) =>
      fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...init,
        headers: {
          authorization: `Bearer ${TOKENS.ann}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...init.headers,
        },
      }),
    async close() {
      await api.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await simulator.close();
    },
  };
}

async function tokensOfTests(): Promise<ApiTokens> {
  const tokens = new ApiTokens({ store: new MemoryApiTokenStore() });
  const scopes = {
    ann: ['generate', 'read'],
    bob: ['generate', 'read'],
    admin: ['admin'],
    reader: ['read'],
    generator: ['generate'],
  } as const;
  for (const [userId, token] of Object.entries(TOKENS)) {
    await tokens.adopt(token, { userId, name: 'test', scopes: scopes[userId as keyof typeof TOKENS] });
  }
  return tokens;
}
