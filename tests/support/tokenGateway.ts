/** Gateways whose API tokens have limits. Several of them share a database, as processes do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { TokenAdministration } from '../../imports/api/tokens/TokenAdministration';
import { TOKEN_OPERATIONS } from '../../imports/api/tokens/tokenOperations';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApi } from '../../imports/api/createHttpApi';
import { UserApiTokens } from '../../imports/host/UserApiTokens';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { BUDGET_LIMITS, DocumentBudgetLimits } from '../../imports/business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS, DocumentBudgetStore } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { DocumentRateStore, TOKEN_RATES } from '../../imports/business/limits/infrastructure/DocumentRateStore';
import { DocumentUsageReports } from '../../imports/business/usage/infrastructure/DocumentUsageReports';
import { TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { REQUESTS } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import type { Simulator } from '../../imports/simulator/Simulator';
import { simulatedRow } from './gateway';
import { RecordingLogger } from './RecordingLogger';
import { RecordingRequestLog } from './RecordingRequestLog';

export interface TokenGateway {
  readonly url: string;
  readonly module: AIModule;
  readonly api: HttpApi;
  readonly operations: OperationsOf<typeof TOKEN_OPERATIONS>;
  readonly tokens: UserApiTokens;
  readonly teamLimits: DocumentBudgetLimits;
  readonly requestLog: RecordingRequestLog;
  readonly unexpected: readonly unknown[];
  /** A token of ann's. */
  issue(fields?: object): Promise<{ readonly id: string; readonly token: string }>;
  post(token: string, path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** `POST /v1/chat/completions`. */
  ask(token: string, fields?: object): Promise<Response>;
  close(): Promise<void>;
}

export const ADMIN = { userId: 'root', isAdmin: true, source: 'http' } as const;

export async function startTokenGateway(
  database: DocumentDatabase,
  simulator: Simulator,
  now?: () => number,
): Promise<TokenGateway> {
  const clock = now === undefined ? {} : { now };
  const tokens = new UserApiTokens(database, (id) => module.apiTokens?.policy.forget(id));
  await tokens.ready();
  const budgets = new DocumentBudgetStore(database.collection(BUDGETS), 'token');
  await budgets.ready();
  const rates = new DocumentRateStore(database.collection(TOKEN_RATES));
  await rates.ready();
  const teamLimits = new DocumentBudgetLimits(database.collection(BUDGET_LIMITS), 'team');
  const requestLog = new RecordingRequestLog();
  const logger = new RecordingLogger();
  const rows = VENDORS.map((vendor) => simulatedRow(simulator, vendor));
  const module = createAIModule(
    { providers: rows, defaultProvider: 'openai' },
    {
      ...clock,
      logger,
      requestLog,
      access: { decide: () => Promise.resolve({ allowed: true }) },
      budgets: new DocumentBudgetStore(database.collection(BUDGETS)),
      budgetLimits: new DocumentBudgetLimits(database.collection(BUDGET_LIMITS)),
      apiTokens: {
        tokens: { find: (id) => tokens.tokens.find(id) },
        budgets,
        rates,
        teamBudgets: new DocumentBudgetStore(database.collection(BUDGETS), 'team'),
        teamLimits,
      },
    },
  );
  const operations = bindOperations(TOKEN_OPERATIONS, {
    tokens: new TokenAdministration({
      tokens: tokens.tokens,
      accounts: budgets,
      usageSettled: module.usageSettled,
      usage: new DocumentUsageReports(database.collection(REQUESTS), database.collection(TOOL_CALLS)),
      logger,
      ...clock,
    }),
  });
  const unexpected: unknown[] = [];
  const api = createHttpApi(module, {
    authenticate: tokens.authenticate,
    onUnexpected: (error) => unexpected.push(error),
    logger,
    requestLog,
  });
  const app = express();
  app.use(api.router);
  const server = createServer(app);
  server.keepAliveTimeout = 60_000;
  server.on('upgrade', (request, socket, head) => {
    if (!api.handleUpgrade(request, socket, head)) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The address of a server that listens on a TCP port is never null or a string.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post: TokenGateway['post'] = (token, path, body, headers = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    url,
    module,
    api,
    operations,
    tokens,
    teamLimits,
    requestLog,
    unexpected,
    issue: (fields = {}) => operations['ai.tokens.create'](ADMIN, { name: 'ci', userId: 'ann', ...fields }),
    post,
    ask: (token, fields = {}) =>
      post(token, '/v1/chat/completions', {
        model: 'openai/gpt-5-mini',
        messages: [{ role: 'user', content: 'Say hello.' }],
        ...fields,
      }),
    async close() {
      await api.close();
      await module.close();
      await tokens.tokens.settled();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
