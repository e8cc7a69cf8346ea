/**
 * A host whose users authenticate with the header `x-user`, and that can be filled with something of a user in every
 * collection.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import type { ApiPrincipal } from '../../imports/api/auth/ApiPrincipal';
import { DashboardSessions } from '../../imports/api/dashboard/DashboardSessions';
import { EncodedFile } from '../../imports/api/dashboard/EncodedFile';
import { SESSIONS, SessionStore } from '../../imports/api/dashboard/SessionStore';
import { IDENTITIES, IdentityStore } from '../../imports/api/signIn/Identities';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import { AUDIT_KEYS } from '../../imports/business/audit/infrastructure/DocumentAuditStore';
import { SCHEDULES } from '../../imports/business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { DocumentMcpAccounts } from '../../imports/business/mcp/infrastructure/DocumentMcpAccounts';
import { SIGN_IN_STATES } from '../../imports/api/signIn/UsedStates';
import { MCP_DEFINITIONS } from '../../imports/business/mcp/infrastructure/DocumentMcpServers';
import {
  openRunEvents,
  RUN_EVENT_WATCHERS,
} from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { PROCESS_WRITES } from '../../imports/database/meteor/WriteRelay';
import { RUN_OWNERS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { CONTENT_KEYS } from '../../imports/business/privacy/infrastructure/UserContentKeys';
import { createHost } from '../../imports/host/createHost';
import type { Host } from '../../imports/host/createHost';
import type { HostSettings } from '../../imports/host/HostSettings';
import type { TestDatabase } from './documentDatabases';
import { COLLECTIONS } from '../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { FixedWindowLimiter, WINDOWS_COLLECTION } from '../../imports/database/FixedWindowLimiter';
import type { WindowDocument } from '../../imports/database/FixedWindowLimiter';
import { TOKEN_RATES } from '../../imports/business/limits/infrastructure/DocumentRateStore';
import { openBackgroundCalls } from '../../imports/business/ai/infrastructure/persistence/background/DocumentBackgroundCalls';
import { openBatchStore } from '../../imports/business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { openVendorObjects } from '../../imports/business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { KeyRing } from '../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../imports/business/providers/infrastructure/sealing/SealingService';
import { taskRequest, taskResult } from './mcp/requestWithTasks';
import { newKey } from './oauth/ProvidersHost';
import { recordEvents } from './recordEvents';
import type { EventRecord } from './recordEvents';
import { until } from './until';

/** With characters that ids of documents escape. */
export const ADA = 'ada/9f3 @x';
export const BOB = 'bob/77c @x';
export const ADMIN = 'root-1';
/** In names and ids that users choose. */
export const CANARIES: Readonly<Record<string, string>> = { [ADA]: 'CanaryOfAda1843', [BOB]: 'CanaryOfBob1912' };
/** In prompts, answers, arguments and results. */
export const CONTENTS: Readonly<Record<string, string>> = { [ADA]: 'ContentOfAda5528', [BOB]: 'ContentOfBob9081' };

/** Collections without anything of a user: processes, the app's own schedules, and keys unless content is sealed. */
export const IMPERSONAL = [
  CONTENT_KEYS,
  RUN_OWNERS,
  RUN_EVENT_WATCHERS,
  PROCESS_WRITES,
  SCHEDULES,
  TOKEN_RATES,
  COLLECTIONS.changes,
  AUDIT_KEYS,
  MCP_DEFINITIONS,
  SIGN_IN_STATES,
];
export const SHARED_PROVIDER = 'shared';

export const actorOf = (userId: string): Actor => ({ userId, isAdmin: userId === ADMIN, source: 'http' });

const EMPTY = new EncodedFile({ contentType: 'text/html', body: Buffer.alloc(0) });

export interface FilledHostSettings extends Partial<Pick<HostSettings, 'sealContent' | 'secretKeys' | 'mcpServers'>> {
  /** Outlives the host. Default: one of its own. */
  readonly simulator?: Simulator;
}

/** A host whose users authenticate with the header `x-user`, over a database that records its collections. */
export class FilledHost {
  readonly names = new Set<string>();
  readonly simulator: Simulator;
  readonly opened: TestDatabase;
  readonly events: EventRecord;
  readonly host: Host;
  private readonly server: Server;
  private readonly ownsSimulator: boolean;
  private readonly secretKeys: string;

  private constructor(
    simulator: Simulator,
    opened: TestDatabase,
    names: Set<string>,
    host: Host,
    server: Server,
    ownsSimulator: boolean,
    secretKeys: string,
  ) {
    this.secretKeys = secretKeys;
    this.ownsSimulator = ownsSimulator;
    this.simulator = simulator;
    this.opened = opened;
    this.names = names;
    this.host = host;
    this.server = server;
    this.events = recordEvents(host.module.loop);
  }

  static async start(
    open: () => Promise<TestDatabase>,
    { simulator: given, secretKeys = newKey('k1'), ...settings }: FilledHostSettings = {},
  ): Promise<FilledHost> {
    const simulator = given ?? (await startSimulator());
    const opened = await open();
    const names = new Set<string>();
    const database: DocumentDatabase = {
      isExclusive: opened.database.isExclusive,
      collection: (name) => {
        names.add(name);
        return opened.database.collection(name);
      },
      purge: async () => opened.database.purge?.(),
      close: () => Promise.resolve(),
    };
    const parameters = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
    const tools = new ToolRegistry()
      .register({ name: 'clock', parameters, execute: ({ text }: { readonly text?: string }) => `Noon, ${text}.` })
      .register({ name: 'danger', parameters, needsApproval: true, execute: () => 'done' })
      .register({
        name: 'report',
        parameters,
        blocking: false,
        execute: ({ text }: { text?: string }) => `On ${text}.`,
      });
    const sessions = new DashboardSessions({
      store: new SessionStore(database.collection(SESSIONS)),
      tokens: {
        verify: (token) => host.apiTokens.verify(token),
        verifySecretId: (id) => host.apiTokens.verifySecretId(id),
      },
    });
    const host: Host = await createHost(
      {
        ai: { providers: [], budgets: { day: { calls: 100 } } },
        secretKeys,
        rootUrl: 'http://localhost',
        allowPrivateHosts: true,
        requestLog: { bodies: true },
        mcp: { tools: ['report'] },
        ...settings,
      },
      {
        database,
        authenticate: ({ headers }): ApiPrincipal | undefined => {
          const user = headers['x-user'];
          if (typeof user !== 'string') return undefined;
          const userId = decodeURIComponent(user);
          return userId === ADMIN ? { userId, scopes: ['admin'] } : { userId };
        },
        findUser: (userId) => Promise.resolve(actorOf(userId)),
        hasAccounts: true,
        ai: { tools },
        dashboard: { sessions, dashboard: { page: EMPTY, signedInPage: EMPTY, notFoundPage: '', files: new Map() } },
      },
    );
    const app = express();
    app.use(host.api.router);
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new FilledHost(simulator, opened, names, host, server, given === undefined, secretKeys);
    // Another process has created them.
    if ((await host.providers.service.find(SHARED_PROVIDER)) !== undefined) return started;
    const provider = { vendor: 'openai', baseURL: simulator.baseURL('openai') };
    await host.providers.service.create({
      ...provider,
      providerId: SHARED_PROVIDER,
      name: 'Shared',
      auth: { kind: 'api_key' },
      apiKey: 'sk-of-all',
      access: [ADA, BOB, ADMIN],
      limits: { windowMs: 86_400_000, requests: 1_000, tokens: 1_000_000 },
    });
    await host.providers.service.create({
      ...provider,
      providerId: 'own-keys',
      name: 'Own keys',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
    });
    await host.providers.service.create({
      ...provider,
      providerId: 'oauth',
      name: 'OAuth',
      auth: {
        kind: 'oauth_user',
        issuer: 'http://127.0.0.1:1',
        authorizationEndpoint: 'http://127.0.0.1:1/authorize',
        tokenEndpoint: 'http://127.0.0.1:1/token',
        clientId: 'c',
        clientSecret: 's'.repeat(32),
      },
      access: 'everyone',
    });
    return started;
  }

  /** @param user absent: the headers say who it is */
  async request(
    user: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { port } = this.server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(user === undefined ? {} : { 'x-user': encodeURIComponent(user) }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Calls a tool over MCP as a task, and waits for its end. */
  private async runTask(userId: string, text: string): Promise<void> {
    const ask = async (method: string, params: Readonly<Record<string, unknown>>) => {
      const { headers, body } = taskRequest(method, params);
      return fieldsOf(await taskResult(await this.request(userId, 'POST', '/mcp', body, headers)));
    };
    const { taskId } = await ask('tools/call', { name: 'report', arguments: { text } });
    await until(async () => (await ask('tasks/get', { taskId }))['status'] === 'completed');
  }

  /** Starts a run whose first turn calls the tool. @returns its id */
  async startRun(userId: string, tool: string, requestId: string): Promise<string> {
    const input = `Ask about ${CONTENTS[userId]}`;
    this.simulator.enqueue({ calls: [{ name: tool, arguments: { text: CONTENTS[userId] } }] });
    const { executionId } = await this.host.runs.methods['ai.runs.start'](actorOf(userId), {
      requestId,
      providerId: SHARED_PROVIDER,
      input,
      tools: [tool],
    });
    return executionId;
  }

  /** Publishes an event as if another process watched the user's runs. */
  private async publishEvent(userId: string, executionId: string): Promise<void> {
    const [origin, delta] = ['0000000f', CONTENTS[userId] ?? ''];
    const runEvents = await openRunEvents(this.opened.database);
    const event = { type: 'llm:delta', kind: 'text', delta, executionId, at: 1, seq: 1 } as const;
    await runEvents.publish([{ origin, batch: 1, userId, after: 0, upTo: 1, events: [{ number: 1, event }] }]);
    // Nobody's runs, so that this process publishes no other events.
    await runEvents.watch(origin, new Set());
  }

  /** Puts something of the user into every collection, through the public operations. @returns ids of runs */
  async fill(userId: string): Promise<readonly string[]> {
    const { simulator, host, events } = this;
    const canary = CANARIES[userId] ?? '';
    const content = CONTENTS[userId] ?? '';
    const actor = actorOf(userId);
    const completed = await this.startRun(userId, 'clock', 'r1');
    simulator.enqueue({ text: `The answer about ${content}.` });
    await events.seen('run:completed', ({ executionId }) => executionId === completed);
    const userBatch = { batchId: `batch-${canary}`, providerId: SHARED_PROVIDER, requests: [{ input: content }] };
    expect((await this.request(userId, 'POST', '/api/batches', userBatch)).status).to.equal(202);
    const { 'ai.batches.get': batchOf } = host.operations;
    await until(async () => (await batchOf(actor, { batchId: userBatch.batchId })).state === 'completed');
    const waiting = await this.startRun(userId, 'danger', 'r2');
    await events.seen('tool:approval_required', ({ executionId }) => executionId === waiting);
    const { executionId: queued } = await host.module.useCases.queueRun.execute(
      actor,
      { requestId: 'r3', providerId: SHARED_PROVIDER, input: content, tools: ['clock'] },
      Date.now() + 86_400_000,
    );
    const job = host.jobs.define({
      name: `job-${Object.keys(CANARIES).indexOf(userId)}`,
      run: () => ({ userId, providerId: SHARED_PROVIDER, input: content }),
    });
    await host.jobs.enqueue(job, undefined, { at: new Date(Date.now() + 86_400_000), key: canary });
    await host.module.runs.signals.add({
      executionId: queued,
      signalId: 's',
      name: 'paid',
      payload: JSON.stringify(content),
    });
    await host.module.runs.addCommand({
      id: `${queued}:leftover`,
      executionId: queued,
      action: { kind: 'submit', callId: 'c', result: { output: content } },
    });
    if (!this.opened.database.isExclusive) await this.publishEvent(userId, queued);
    simulator.enqueue({ text: `A chat about ${content}.` });
    await host.module.conversations.handler.handleMessage(userId, 'chat', content, { model: SHARED_PROVIDER });
    simulator.enqueue({ text: `A response about ${content}.` });
    await (await openVendorObjects(this.opened.database)).record(userId, [`msg_${canary}`]);
    const call = { userId, turn: canary, providerId: SHARED_PROVIDER, digest: '' };
    await (await openBackgroundCalls(this.opened.database)).save(call, `resp_${canary}`);
    const lease = { owner: 'process', leasedUntil: 0, revision: 1, createdAt: 0 };
    const batch = { userId, batchId: `batch of ${canary}`, requests: 1, parts: [], ...lease };
    expect(await (await openBatchStore(this.opened.database)).insert(batch)).to.equal(true);
    const response = await this.request(
      userId,
      'POST',
      '/v1/responses',
      { model: SHARED_PROVIDER, input: content },
      { 'x-bolide-cache': 'max-age=3600' },
    );
    expect(response.status, await response.text()).to.equal(200);
    const items = [{ role: 'user', content }];
    const conversation = { metadata: { topic: content }, items };
    expect((await this.request(userId, 'POST', '/v1/conversations', conversation)).status).to.equal(200);
    simulator.enqueue({ text: `A stream about ${content}.` });
    const background = { model: SHARED_PROVIDER, input: content, background: true, stream: true };
    const stream = await this.request(userId, 'POST', '/v1/responses', background);
    expect(await stream.text()).to.contain('response.completed');
    simulator.enqueue({ text: `A message about ${content}.` });
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: content }] };
    const chat = await this.request(userId, 'POST', '/api/chat', {
      id: 'c',
      model: SHARED_PROVIDER,
      messages: [message],
    });
    expect(await chat.text()).to.contain(`A message about ${content}.`);
    await this.runTask(userId, content);
    const prompt = { name: `Prompt of ${canary}`, content: { input: content } };
    expect((await this.request(userId, 'POST', '/api/prompts', prompt)).status).to.equal(200);
    expect((await this.request(userId, 'POST', '/api/memories', { text: `Likes ${content}.` })).status).to.equal(200);
    const created = await this.request(userId, 'POST', '/api/tokens', { name: canary });
    expect(created.status).to.equal(201);
    const { token: secret } = (await created.json()) as { readonly token: string };
    expect((await this.request(userId, 'POST', '/api/session', { token: secret })).status).to.equal(200);
    const identity = { issuer: 'https://issuer.invalid', subject: canary, email: canary, groups: [] };
    await new IdentityStore(this.opened.database.collection(IDENTITIES)).put(userId, identity, Date.now());
    // An author of what stays.
    const token = { name: 'for the admin', userId: ADMIN };
    await host.operations['ai.tokens.create']({ ...actor, isAdmin: true }, token);
    await host.operations['ai.budgets.set'](actorOf(ADMIN), { userId, limits: { day: { calls: 1_000 } } });
    const task = `task-${Object.keys(CANARIES).indexOf(userId)}`;
    await host.module.jobs.schedule({ name: task, cron: '0 3 1 1 *' }, () => Promise.resolve());
    await host.operations['ai.schedules.pause']({ ...actor, isAdmin: true }, { name: task });
    await host.operations['ai.routing.save']({ ...actor, isAdmin: true }, { name: task, targets: [SHARED_PROVIDER] });
    await host.operations['ai.mcpServers.save'](
      { ...actor, isAdmin: true },
      { name: task, url: 'https://mcp.invalid', enabled: false },
    );
    const account = { server: task, userId, content: JSON.stringify({ content }), listsTools: true, signedInAt: 1 };
    await new DocumentMcpAccounts(this.opened.database, new SealingService(KeyRing.parse(this.secretKeys))).put(
      account,
    );
    await host.operations['ai.providers.create'](actorOf(ADMIN), {
      providerId: `of-${canary}`,
      name: `Provider of ${canary}`,
      vendor: 'openai',
      auth: { kind: 'api_key' },
      apiKey: `sk-${canary}`,
      owner: userId,
    });
    await host.operations['ai.providers.setMyApiKey'](actor, { providerId: 'own-keys', apiKey: `sk-own-${canary}` });
    await host.operations['ai.providers.connect'](actor, { providerId: 'oauth' });
    // So many that other processes must know of them.
    const connections = await Promise.all(
      Array.from({ length: 10 }, async () => host.userLimiter.begin(userId, 'connections')),
    );
    for (const release of connections) release();
    await host.userLimiter.flush();
    // Windows of a minute may end while a slow machine still fills the host.
    const windows = this.opened.database.collection<WindowDocument>(WINDOWS_COLLECTION);
    await new FixedWindowLimiter(windows, ['count']).admit(['model', userId], {}, 365 * 86_400_000);
    await host.runs.settled();
    await host.requestLog.flush();
    return [completed, waiting, queued];
  }

  /** All documents as JSON, by collection. */
  async dump(): Promise<ReadonlyMap<string, readonly string[]>> {
    const dumped = new Map<string, readonly string[]>();
    for (const name of [...this.names].sort()) {
      const documents = await this.opened.database.collection<StoredDocument>(name).find({}, { sort: { _id: 1 } });
      dumped.set(
        name,
        documents.map((document) => JSON.stringify(document)),
      );
    }
    return dumped;
  }

  /** The documents of a user, by collection. */
  async dumpOf(userId: string, runs: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const marks = marksOf(userId, runs);
    return new Map(
      [...(await this.dump())].map(([name, documents]) => [
        name,
        documents.filter((document) => marks.some((mark) => document.includes(mark))),
      ]),
    );
  }

  async stop(): Promise<void> {
    await this.host.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.opened.close();
    if (this.ownsSimulator) await this.simulator.close();
  }
}

/** What identifies a document as the user's: the id in every form, the canary, ids of runs. */
export function marksOf(userId: string, runs: readonly string[]): readonly string[] {
  return [userId, encodeURIComponent(userId), CANARIES[userId] ?? userId, CONTENTS[userId] ?? userId, ...runs];
}
