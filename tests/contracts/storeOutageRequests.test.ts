/** What a host answers while its database cannot be reached, over HTTP and from Meteor's methods. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import type { MongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { createHost } from '../../imports/host/createHost';
import type { Host } from '../../imports/host/createHost';
import { registry } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { newKey } from '../support/oauth/ProvidersHost';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { StoreProxy } from '../support/StoreProxy';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
/** Requests that need no database. */
const FREE = {
  '/health': undefined,
  '/openapi.json': undefined,
  '/v1/models': undefined,
  '/v1/chat/completions': { model: 'openai', messages: MESSAGES },
  '/v1/messages': { model: 'openai', max_tokens: 50, messages: MESSAGES },
  '/v1/responses': { model: 'openai', input: 'Hello', store: false },
  '/v1beta/models/openai:generateContent': { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
};
const MESSAGE = 'The database cannot be reached. Try again later.';

describe(
  'a host whose database cannot be reached',
  inFlowingTime(() => {
    let mongo: TestMongo;
    let proxy: StoreProxy;
    let database: MongoDatabase;
    let simulator: Simulator;
    let host: Host;
    let server: Server;
    let token: string;

    const request = (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-user': 'root', 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });

    before(async () => {
      mongo = await startTestMongo();
      proxy = await StoreProxy.start(mongo.url);
      simulator = await startSimulator();
      database = await openMongoDatabase(proxy.url, {
        times: { suspectAfter: 100, probeTimeout: 1_000, probeEvery: 100 },
        logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      });
      host = await createHost(
        {
          ai: {
            providers: [
              {
                id: 'openai',
                vendor: 'openai',
                apiKey: 'sk',
                baseURL: simulator.baseURL('openai'),
                allowPrivateHosts: true,
              },
            ],
          },
          secretKeys: newKey('k1'),
          rootUrl: 'http://127.0.0.1',
          allowPrivateHosts: true,
          access: 'everyone',
        },
        {
          database,
          authenticate: ({ headers }) =>
            typeof headers['x-user'] === 'string' && headers['x-user'] !== ''
              ? { userId: headers['x-user'], scopes: ['admin'] }
              : undefined,
          findUser: (userId) => Promise.resolve({ userId, isAdmin: userId === 'root' }),
        },
      );
      server = createServer(express().use(host.api.router));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      ({ token } = await host.apiTokens.tokens.issue({ userId: 'bob', name: 'mine', scopes: ['generate'] }));
      for (const [path, body] of Object.entries(FREE)) expect((await request(path, body)).status, path).to.equal(200);
      expect(await (await request('/ready')).json()).to.deep.equal({ status: 'ready' });
      await proxy.begin('cut');
      await until(async () => (await request('/ready')).status === 503);
    });
    after(async () => {
      await host.close();
      server.closeAllConnections();
      server.close();
      await proxy.stop();
      await simulator.close();
      await mongo.stop();
    });

    it('is not ready, and says why and when to ask again', async () => {
      const response = await request('/ready', undefined, { 'x-user': '' });
      expect(response.status).to.equal(503);
      expect(response.headers.get('retry-after')).to.equal('5');
      const { error } = (await response.json()) as {
        readonly error: { readonly code: string; readonly message: string };
      };
      expect(error.code).to.equal('store-unavailable');
      expect(error.message).to.match(/^The database cannot be reached since \d{4}-.+Z\.$/);
    });

    for (const [path, body] of Object.entries(FREE))
      it(`answers ${path}, which needs no database`, async () => {
        const response = await request(path, body);
        expect(response.status, await response.text()).to.equal(200);
      });

    const ERRORS: Readonly<Record<string, readonly [path: string, body: unknown, error: object, isOfUser?: true]>> = {
      'the dashboard’s API': ['/api/runs', undefined, { error: { code: 'store-unavailable', message: MESSAGE } }],
      Responses: [
        '/v1/responses',
        { model: 'openai', input: 'Hello' },
        { error: { message: MESSAGE, type: 'server_error', param: null, code: 'store_unavailable' } },
      ],
      'Chat Completions': [
        '/v1/chat/completions',
        { model: 'openai', messages: MESSAGES },
        { error: { message: MESSAGE, type: 'server_error', param: null, code: 'store_unavailable' } },
        true,
      ],
      Messages: [
        '/v1/messages',
        { model: 'openai', max_tokens: 50, messages: MESSAGES },
        { type: 'error', error: { type: 'overloaded_error', message: MESSAGE } },
        true,
      ],
      Gemini: [
        '/v1beta/models/openai:generateContent',
        { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
        { error: { code: 503, message: MESSAGE, status: 'UNAVAILABLE' } },
        true,
      ],
    };
    for (const [api, [path, body, expected, isOfUser]] of Object.entries(ERRORS))
      it(`answers 503 with retry-after to what needs it, in the format of ${api}`, async () => {
        // The token of a user is checked in the database.
        const headers = isOfUser === true ? { 'x-user': '', authorization: `Bearer ${token}` } : {};
        const response = await request(path, body, headers);
        expect(response.status).to.equal(503);
        expect(response.headers.get('retry-after')).to.equal('5');
        expect(response.headers.get('x-should-retry')).to.equal(null);
        const { request_id: _, ...error } = (await response.json()) as Readonly<Record<string, unknown>>;
        expect(error).to.deep.equal(expected);
      });

    it('answers as before when it is back', async () => {
      await proxy.end();
      await until(async () => (await request('/ready')).status === 200);
      expect((await request('/api/runs')).status).to.equal(200);
      const stored = await request('/v1/responses', { model: 'openai', input: 'Hello' });
      expect(stored.status, await stored.text()).to.equal(200);
    });
  }, 50),
);

describe(
  'a Meteor app whose database cannot be reached',
  inFlowingTime(() => {
    let app: MeteorApp;
    before(async () => {
      app = await startMeteorApp();
    });
    after(async () => {
      registry.outage = undefined;
      await app.stop();
    });

    for (const [method, argument] of [
      ['ai.runs.list', {}],
      ['ai.llm.generateText', { requestId: 'r', providerId: 'shared', input: 'Hello' }],
      ['ai.providers.list', {}],
    ] as const)
      it(`answers ${method} with a Meteor.Error that says so`, async () => {
        registry.outage = Object.assign(new Error('connect ECONNREFUSED'), { name: 'MongoNetworkError' });
        const error = await failure(app.call('ann', method, argument));
        expect(error).to.include({ error: 'store-unavailable', reason: MESSAGE });
        expect(error).to.have.property('details').that.deep.equals({ retryable: true, retryAfterMs: 5_000 });
      });

    it('answers as before when it is back', async () => {
      registry.outage = undefined;
      await until(() => app.host.database.outage === undefined);
      expect(await app.call('ann', 'ai.runs.list', {})).to.have.property('runs');
    });
  }, 50),
);
