/**
 * The deletion of a user's data: complete in every collection, harmless to others, repeatable, and final even for
 * processes that still hold something of the user.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import type { ApiPrincipal } from '../../imports/api/auth/ApiPrincipal';
import { DashboardSessions } from '../../imports/api/dashboard/DashboardSessions';
import { SESSIONS, SessionStore } from '../../imports/api/dashboard/SessionStore';
import { endUserRuns } from '../../imports/business/ai/application/services/endUserRuns';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import { createToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { StoredDocument } from '../../imports/business/ai/domain/interfaces/DocumentCollection';
import { AUDIT, AUDIT_KEYS } from '../../imports/business/ai/infrastructure/persistence/audit/DocumentAuditStore';
import { SCHEDULES } from '../../imports/business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/DocumentDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUN_OWNERS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { createHost } from '../../imports/startup/createHost';
import type { Host } from '../../imports/startup/createHost';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { COLLECTIONS } from '../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { TOKEN_RATES } from '../../imports/business/ai/infrastructure/persistence/rateLimits/DocumentRateStore';
import { openVendorObjects } from '../../imports/business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { failure } from '../support/failure';
import { newKey } from '../support/oauth/ProvidersHost';
import { recordEvents } from '../support/recordEvents';
import type { EventRecord } from '../support/recordEvents';
import { runRequest } from '../support/runRequests';

/** With characters that ids of documents escape. */
const ADA = 'ada/9f3 @x';
const BOB = 'bob/77c @x';
const ADMIN = 'root-1';
const CANARIES: Readonly<Record<string, string>> = { [ADA]: 'CanaryOfAda1843', [BOB]: 'CanaryOfBob1912' };

/** Collections without anything of a user: processes, and the app's own schedules. */
const IMPERSONAL = [RUN_OWNERS, SCHEDULES, TOKEN_RATES, COLLECTIONS.changes, AUDIT_KEYS];
const SHARED_PROVIDER = 'shared';

const actorOf = (userId: string): Actor => ({ userId, isAdmin: userId === ADMIN, source: 'http' });

/** A host whose users authenticate with the header `x-user`, over a database that records its collections. */
class TestHost {
  readonly names = new Set<string>();
  readonly simulator: Simulator;
  readonly opened: TestDatabase;
  readonly events: EventRecord;
  readonly host: Host;
  private readonly server: Server;

  private constructor(simulator: Simulator, opened: TestDatabase, names: Set<string>, host: Host, server: Server) {
    this.simulator = simulator;
    this.opened = opened;
    this.names = names;
    this.host = host;
    this.server = server;
    this.events = recordEvents(host.module.loop);
  }

  static async start(open: () => Promise<TestDatabase>): Promise<TestHost> {
    const simulator = await startSimulator();
    const opened = await open();
    const names = new Set<string>();
    const database: DocumentDatabase = {
      isExclusive: opened.database.isExclusive,
      collection: (name) => {
        names.add(name);
        return opened.database.collection(name);
      },
      close: () => Promise.resolve(),
    };
    const parameters = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
    const tools = new ToolRegistry()
      .register({ name: 'clock', parameters, execute: () => 'noon' })
      .register({ name: 'danger', parameters, needsApproval: true, execute: () => 'done' });
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
        secretKeys: newKey('k1'),
        rootUrl: 'http://localhost',
        allowPrivateHosts: true,
        requestLog: { bodies: true },
      },
      {
        express,
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
        dashboard: { sessions, dashboard: { page: '', notFoundPage: '', files: new Map() } },
      },
    );
    const app = express();
    app.use(host.api.router);
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new TestHost(simulator, opened, names, host, server);
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

  async request(
    user: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { port } = this.server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'x-user': encodeURIComponent(user),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Starts a run whose first turn calls the tool. @returns its id */
  async startRun(userId: string, tool: string, requestId: string): Promise<string> {
    const input = `Ask about ${CANARIES[userId]}`;
    this.simulator.enqueue({ calls: [{ name: tool, arguments: { text: CANARIES[userId] } }] });
    const { executionId } = await this.host.runs.methods['ai.runs.start'](actorOf(userId), {
      requestId,
      providerId: SHARED_PROVIDER,
      input,
      tools: [tool],
    });
    return executionId;
  }

  /** Puts something of the user into every collection, through the public operations. @returns ids of runs */
  async fill(userId: string): Promise<readonly string[]> {
    const { simulator, host, events } = this;
    const canary = CANARIES[userId] ?? '';
    const actor = actorOf(userId);
    const completed = await this.startRun(userId, 'clock', 'r1');
    simulator.enqueue({ text: `The answer about ${canary}.` });
    await events.seen('run:completed', ({ executionId }) => executionId === completed);
    const waiting = await this.startRun(userId, 'danger', 'r2');
    await events.seen('tool:approval_required', ({ executionId }) => executionId === waiting);
    const { executionId: queued } = await host.module.useCases.queueRun.execute(
      actor,
      { requestId: 'r3', providerId: SHARED_PROVIDER, input: canary, tools: ['clock'] },
      Date.now() + 86_400_000,
    );
    await host.module.runs.addCommand({
      id: `${queued}:leftover`,
      executionId: queued,
      action: { kind: 'submit', callId: 'c', result: { output: canary } },
    });
    simulator.enqueue({ text: `A chat about ${canary}.` });
    await host.module.conversations.handler.handleMessage(userId, 'chat', canary, { model: SHARED_PROVIDER });
    simulator.enqueue({ text: `A response about ${canary}.` });
    await (await openVendorObjects(this.opened.database)).record(userId, [`msg_${canary}`]);
    const response = await this.request(
      userId,
      'POST',
      '/v1/responses',
      { model: SHARED_PROVIDER, input: canary },
      { 'x-bolide-cache': 'max-age=3600' },
    );
    expect(response.status, await response.text()).to.equal(200);
    const items = [{ role: 'user', content: canary }];
    const conversation = { metadata: { topic: canary }, items };
    expect((await this.request(userId, 'POST', '/v1/conversations', conversation)).status).to.equal(200);
    simulator.enqueue({ text: `A stream about ${canary}.` });
    const background = { model: SHARED_PROVIDER, input: canary, background: true, stream: true };
    const stream = await this.request(userId, 'POST', '/v1/responses', background);
    expect(await stream.text()).to.contain('response.completed');
    simulator.enqueue({ text: `A message about ${canary}.` });
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: canary }] };
    const chat = await this.request(userId, 'POST', '/chat', { id: 'c', model: SHARED_PROVIDER, messages: [message] });
    expect(await chat.text()).to.contain(`A message about ${canary}.`);
    const prompt = { name: `Prompt of ${canary}`, content: { input: canary } };
    expect((await this.request(userId, 'POST', '/prompts', prompt)).status).to.equal(200);
    const created = await this.request(userId, 'POST', '/tokens', { name: canary });
    expect(created.status).to.equal(201);
    const { token: secret } = (await created.json()) as { readonly token: string };
    expect((await this.request(userId, 'POST', '/session', { token: secret })).status).to.equal(200);
    // An author of what stays.
    const token = { name: 'for the admin', userId: ADMIN };
    await host.operations['ai.tokens.create']({ ...actor, isAdmin: true }, token);
    await host.operations['ai.budgets.set'](actorOf(ADMIN), { userId, limits: { day: { calls: 1_000 } } });
    const task = `task-${Object.keys(CANARIES).indexOf(userId)}`;
    await host.module.jobs.schedule({ name: task, cron: '0 3 1 1 *' }, () => Promise.resolve());
    await host.operations['ai.schedules.pause']({ ...actor, isAdmin: true }, { name: task });
    await host.operations['ai.routing.save']({ ...actor, isAdmin: true }, { name: task, targets: [SHARED_PROVIDER] });
    await host.providers.operations.create(actorOf(ADMIN), {
      providerId: `of-${canary}`,
      name: `Provider of ${canary}`,
      vendor: 'openai',
      auth: { kind: 'api_key' },
      apiKey: `sk-${canary}`,
      owner: userId,
    });
    await host.providers.operations.setMyApiKey(actor, { providerId: 'own-keys', apiKey: `sk-own-${canary}` });
    await host.providers.operations.connect(actor, { providerId: 'oauth' });
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
    await this.simulator.close();
  }
}

/** What identifies a document as the user's: the id in every form, the canary, ids of runs. */
function marksOf(userId: string, runs: readonly string[]): readonly string[] {
  return [userId, encodeURIComponent(userId), CANARIES[userId] ?? userId, ...runs];
}

for (const [kind, open] of Object.entries(DATABASES))
  describe(`The deletion of a user's data (${kind})`, function () {
    this.timeout(60_000);
    let test: TestHost;
    beforeEach(async () => {
      test = await TestHost.start(open);
    });
    afterEach(() => test.stop());

    it('leaves nothing of the user in any collection, and every document of others as it was', async () => {
      const runsOfAda = await test.fill(ADA);
      const runsOfBob = await test.fill(BOB);
      // A collection that neither this test fills nor is impersonal has appeared: cover it in both places.
      const filled = await test.dumpOf(ADA, runsOfAda);
      for (const name of test.names)
        if (!IMPERSONAL.includes(name)) expect(filled.get(name), `${name} holds something of the user`).not.to.be.empty;
      const bobBefore = new Map(await test.dumpOf(BOB, runsOfBob));
      const deleted = await test.host.deleteUserData(ADA);

      const all = await test.dump();
      for (const [name, documents] of all)
        for (const mark of marksOf(ADA, runsOfAda)) expect(documents.join('\n'), name).not.to.include(mark);
      const bobAfter = new Map(await test.dumpOf(BOB, runsOfBob));
      const isShared = (document: string): boolean => document.includes(`"_id":"${SHARED_PROVIDER}"`);
      for (const [name, documents] of bobBefore)
        expect(
          bobAfter.get(name)?.filter((document) => !isShared(document)),
          name,
        ).to.deep.equal(documents.filter((document) => !isShared(document)));
      expect((await test.host.providers.service.find(SHARED_PROVIDER))?.access).to.deep.include({
        users: [BOB, ADMIN],
        roles: [BOB, ADMIN],
      });
      for (const kindOfData of [
        'runs',
        'toolCalls',
        'liveTexts',
        'commands',
        'jobs',
        'statistics',
        'messages',
        'responses',
        'cachedResponses',
        'responseEvents',
        'conversations',
        'conversationItems',
        'requests',
        'requestBodies',
        'chats',
        'vendorObjects',
        'prompts',
        'budgets',
        'rateWindows',
        'usageWindows',
        'apiTokens',
        'sessions',
        'providers',
        'accessEntries',
        'credentials',
        'authorizations',
      ])
        expect(deleted, kindOfData).to.have.property(kindOfData).that.is.greaterThan(0);
      // The acts stay, under one pseudonym. Those of the admin on what was Ada's stay the admin's.
      const entries = (all.get(AUDIT) ?? []).map((json) => JSON.parse(json) as AuditEntry);
      const ofAda = entries.filter(({ userId }) => userId.startsWith('deleted-'));
      expect(new Set(ofAda.map(({ userId }) => userId)).size).to.equal(1);
      expect(ofAda.map(({ action }) => action)).to.include.members([
        'token.create',
        'prompt.save',
        'provider.set_own_key',
      ]);
      expect(
        ofAda.every((entry) => !('details' in entry) && !('address' in entry) && !('userAgent' in entry)),
      ).to.equal(true);
      const budgets = entries.filter(({ action, userId }) => action === 'budget.set' && userId === ADMIN);
      expect(budgets.map(({ subject }) => subject.ownerId)).to.have.members([BOB, ofAda[0]?.userId]);
      // Bob's run still waits, and can be decided.
      expect(await test.host.module.runs.load(runsOfBob[1] ?? '')).to.have.nested.property('run.state', 'running');
    });

    it('can be repeated, and does nothing for a user without data', async () => {
      await test.fill(ADA);
      await test.host.deleteUserData(ADA);
      const again = await test.host.deleteUserData(ADA);
      expect(Object.values(again).every((count) => count === 0)).to.equal(true);
    });

    it('completes after an interruption at any write', async () => {
      const runs = await test.fill(ADA);
      const { database } = test.opened;
      const collection = database.collection.bind(database);
      let isDone = false;
      for (let allowed = 0; !isDone; allowed += 3) {
        let left = allowed;
        // The stores that the host holds are created; those of the deletion are created when it needs them.
        database.collection = (name) => {
          const real = collection(name);
          return new Proxy(real, {
            get(target, property, receiver) {
              const value: unknown = Reflect.get(target, property, receiver);
              if (property !== 'remove' || typeof value !== 'function') return value;
              return (selector: unknown) => {
                if (left === 0) return Promise.reject(new Error('The process died.'));
                left -= 1;
                return (value as (given: unknown) => unknown).call(target, selector);
              };
            },
          }) as never;
        };
        isDone = await test.host.deleteUserData(ADA).then(
          () => true,
          (error: unknown) => {
            expect(error).to.have.property('message', 'The process died.');
            return false;
          },
        );
      }
      database.collection = collection;
      for (const [name, documents] of await test.dump())
        for (const mark of marksOf(ADA, runs)) expect(documents.join('\n'), name).not.to.include(mark);
    });

    it('cannot be undone by a process that still believes to own a run', async () => {
      const store = await openRunStore(test.opened.database);
      await store.heartbeat('elsewhere');
      const lease = await store.create({ ...runRequest('lost'), userId: ADA }, 'running', 'elsewhere');
      const call = createToolCall({
        id: 'c1',
        call_id: 'c1',
        name: 'clock',
        arguments: '{}',
        blocking: true,
        createdAt: 1,
      });
      expect(await store.saveCalls(lease, [call])).to.equal(true);
      await endUserRuns({ loop: test.host.module.loop, store, patienceMs: 50 }, ADA);
      await test.host.deleteUserData(ADA);
      expect(await store.saveRun(lease, { state: 'running' })).to.equal(false);
      expect(await store.saveCalls(lease, [call])).to.equal(false);
      expect(await store.saveCalls(lease, [{ ...call, id: 'c2' }])).to.equal(false);
      expect(await store.claim(lease, 'elsewhere')).to.equal(undefined);
      for (const [name, documents] of await test.dump())
        if (name !== RUN_OWNERS) expect(documents.join('\n'), name).not.to.include('lost');
    });

    if (kind !== 'embedded (NeDB)')
      it('ends the runs of other processes, which bring nothing back', async () => {
        const other = await TestHost.start(() => Promise.resolve({ ...test.opened, close: () => Promise.resolve() }));
        const waiting = await test.startRun(ADA, 'danger', 'r1');
        await test.events.seen('tool:approval_required', ({ executionId }) => executionId === waiting);
        await other.host.deleteUserData(ADA);
        await test.events.seen('run:cancelled', ({ executionId }) => executionId === waiting);
        await test.host.runs.settled();
        for (const [name, documents] of await test.dump())
          for (const mark of marksOf(ADA, [waiting])) expect(documents.join('\n'), name).not.to.include(mark);
        await other.stop();
      });

    it('cancels responses in the background, which stay deleted', async () => {
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      test.simulator.enqueue(async () => {
        await finished;
        return { text: CANARIES[ADA] ?? '' };
      });
      const response = await test.request(ADA, 'POST', '/v1/responses', {
        model: SHARED_PROVIDER,
        input: CANARIES[ADA],
        background: true,
      });
      expect(response.status).to.equal(200);
      await test.simulator.nextRequest();
      await test.host.deleteUserData(ADA);
      finish();
      for (const [name, documents] of await test.dump())
        for (const mark of marksOf(ADA, [])) expect(documents.join('\n'), name).not.to.include(mark);
    });

    it('is not undone by a response in the background of another process', async () => {
      let finish = (): void => undefined;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      test.simulator.enqueue(async () => {
        await finished;
        return { text: CANARIES[ADA] ?? '' };
      });
      await test.request(ADA, 'POST', '/v1/responses', { model: SHARED_PROVIDER, input: 'x', background: true });
      await test.simulator.nextRequest();
      const responses = test.opened.database.collection('ai_responses');
      expect(await responses.remove({ userId: ADA })).to.equal(1);
      finish();
      await test.host.api.close();
      expect(await responses.find({})).to.deep.equal([]);
    });

    describe('over HTTP', () => {
      const path = (userId: string): string => `/user-data/${encodeURIComponent(userId)}`;

      it('is open to the user and to admins only', async () => {
        const runs = await test.fill(ADA);
        const before = await test.dumpOf(ADA, runs);
        expect((await test.request(BOB, 'DELETE', path(ADA))).status).to.equal(403);
        const { token } = await test.host.apiTokens.tokens.issue({ userId: ADA, name: 'x', scopes: ['generate'] });
        const { port } = (test as unknown as { server: Server }).server.address() as AddressInfo;
        const byToken = await fetch(`http://127.0.0.1:${port}${path(ADA)}`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${token}` },
        });
        expect(byToken.status, 'an API token is not enough').to.equal(403);
        expect((await test.dumpOf(ADA, runs)).get('ai_runs')).to.deep.equal(before.get('ai_runs'));
        const own = await test.request(ADA, 'DELETE', path(ADA));
        expect(own.status).to.equal(200);
        expect(await own.json())
          .to.have.nested.property('deleted.runs')
          .that.is.greaterThan(0);
        expect((await test.dumpOf(ADA, runs)).get('ai_runs')).to.deep.equal([]);
        const byAdmin = await test.request(ADMIN, 'DELETE', path(ADA));
        expect(byAdmin.status).to.equal(200);
        expect(await byAdmin.json()).to.have.nested.property('deleted.runs', 0);
      });

      it('keeps the counters of limits if the user asks, so that no budget starts anew', async () => {
        const runs = await test.fill(ADA);
        await test.request(ADA, 'DELETE', path(ADA));
        const left = await test.dumpOf(ADA, runs);
        const names = [...left].flatMap(([name, documents]) => (documents.length > 0 ? [name] : []));
        expect(names).to.have.members(['ai_budget_limits', 'ai_budgets', 'ai_provider_usage', 'ai_rate_windows']);
        for (const [name, documents] of left) expect(documents.join(), name).not.to.include(CANARIES[ADA]);
      });
    });

    it('rejects ids that are none', async () => {
      for (const userId of ['', 'system', undefined, { $gt: '' }])
        expect(await failure(test.host.deleteUserData(userId as string))).to.have.property('code', 'invalid-request');
    });
  });
