/** Runs the HTTP API on Express against the vendor simulator, with one provider per vendor, named after it. */
import { createServer } from 'node:http';
import { SendGuard } from '../../imports/business/ai/application/services/SendGuard';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ApiTokens } from '../../imports/api/auth/ApiTokens';
import { MemoryApiTokenStore } from '../../imports/api/auth/MemoryApiTokenStore';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApi, HttpApiPorts } from '../../imports/api/createHttpApi';
import type { LLMManagerOptions } from '../../imports/business/ai/application/services/LLMManager';
import type { BudgetSettings } from '../../imports/business/ai/domain/entities/BudgetAccount';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { createManager } from '../../imports/business/ai/infrastructure/factories/createManager';
import { createCallLimits } from '../../imports/business/limits/createCallLimits';
import type { ManagerPorts } from '../../imports/business/ai/infrastructure/factories/createManager';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AISettings } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { ProviderSettings } from '../../imports/business/ai/infrastructure/factories/LLMProviderFactory';
import { CANARY } from './canaries';
import { RecordingLogger } from './RecordingLogger';
import { RecordingRequestLog } from './RecordingRequestLog';
import type { Simulator, SimulatorOptions } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

export interface GatewayOptions {
  readonly simulator?: SimulatorOptions;
  /** Overrides fields of every provider. */
  readonly row?: Partial<ProviderSettings>;
  readonly providers?: (simulator: Simulator) => readonly ProviderSettings[];
  /** Attempts at one provider. Default 1, so that an error surfaces at once. Failures never open the circuit. */
  readonly attempts?: number;
  /** The clock and the pauses of the retries. Default: real ones. */
  readonly time?: Pick<LLMManagerOptions, 'clock' | 'random' | 'sleep'>;
  readonly fallback?: LLMManagerOptions['fallback'];
  readonly routing?: AISettings['routing'];
  readonly api?: Partial<HttpApiPorts>;
  readonly budgets?: BudgetSettings;
  /** What the manager is decorated with, besides the request log. */
  readonly manager?: Omit<ManagerPorts, 'requestLog' | 'defaultModelOf'>;
  /** The request log also receives what was sent and received. */
  readonly recordsBodies?: true;
  /** Replaces parts of the module. */
  readonly module?: Partial<AIModule>;
}

export interface GatewayRequestInit extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Gateway {
  readonly url: string;
  readonly simulator: Simulator;
  readonly module: AIModule;
  readonly api: HttpApi;
  readonly server: Server;
  /** Errors that the API reported as bugs. */
  readonly unexpected: readonly unknown[];
  readonly requestLog: RecordingRequestLog;
  /** Like `fetch`, by default with ann's token and a JSON body. */
  request(path: string, body?: unknown, init?: GatewayRequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Tokens by user. The last two have one scope each. */
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

/** @throws what `createHttpApi` throws for its options, with nothing left running */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const simulator = await startSimulator(options.simulator);
  try {
    return await serveGateway(simulator, options);
  } catch (error) {
    await simulator.close();
    throw error;
  }
}

async function serveGateway(simulator: Simulator, options: GatewayOptions): Promise<Gateway> {
  const rows =
    options.providers?.(simulator) ?? VENDORS.map((vendor) => ({ ...simulatedRow(simulator, vendor), ...options.row }));
  const created = createAIModule({
    providers: rows,
    defaultProvider: rows[0]!.id,
    ...(options.budgets === undefined ? {} : { budgets: options.budgets }),
    ...(options.routing === undefined ? {} : { routing: options.routing }),
  });
  const requestLog = new RecordingRequestLog(options.recordsBodies);
  const sendGuard = new SendGuard({
    objects: created.vendorObjects,
    access: options.api?.access,
    tokens: undefined,
    allowedModelsOf: (providerId) => created.providers.rows().find(({ id }) => id === providerId)?.allowedModels,
  });
  const manager = createManager(
    {
      directory: created.providers,
      toolExecutor: created.tools,
      logger: new RecordingLogger(),
      retry: { maxAttempts: options.attempts ?? 1, breakerFailures: 1_000_000 },
      ...options.time,
      ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
    },
    createCallLimits(options.budgets, {}),
    {
      routing: created.routing,
      sendGuard,
      telemetry: created.telemetry,
      ...options.manager,
      requestLog,
      defaultModelOf: (providerId) => created.providers.defaultModelOf(providerId),
    },
  );
  const module = { ...created, sendGuard, manager, guardrails: options.manager?.guardrails ?? [], ...options.module };
  const unexpected: unknown[] = [];
  const api = createHttpApi(module, {
    authenticate: (await tokensOfTests()).authenticate,
    onUnexpected: (error) => unexpected.push(error),
    logger: new RecordingLogger(),
    requestLog,
    ...options.api,
  });
  const app = express();
  app.use(api.router);
  const server = createServer(app);
  // Client and server share an event loop. After a long task, Node's default of 5 s would close sockets on which a
  // request is just being sent.
  server.keepAliveTimeout = 60_000;
  server.on('upgrade', (request, socket, head) => {
    if (!api.handleUpgrade(request, socket, head)) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The address of a server that listens on a TCP port is never null or a string.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    simulator,
    module,
    api,
    server,
    unexpected,
    requestLog,
    request: (path, body, init = {}) =>
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
    await tokens.adopt(token, { userId, name: `token of ${userId}`, scopes: scopes[userId as keyof typeof TOKENS] });
  }
  return tokens;
}
