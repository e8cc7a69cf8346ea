/** The routes that the Meteor host mounts, beside the pages of the app. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import WebSocket from 'ws';
import { failure } from '../../../support/failure';
import { startMeteorApp } from '../../../support/meteorApp';
import type { MeteorApp } from '../../../support/meteorApp';
import { readSse } from '../../../support/readSse';
import { inFlowingTime } from '../../../support/VirtualTime';

const LOGIN = (person: string): string => `${person}-login`;
/** Headers that browsers send for a page. */
const NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-dest': 'document' };

describe(
  'The HTTP routes in Meteor',
  inFlowingTime(() => {
    let app: MeteorApp;
    let address: string;

    const start = async (
      options: Parameters<typeof startMeteorApp>[1] = {},
      settings: Parameters<typeof startMeteorApp>[0] = {},
    ): Promise<void> => {
      app = await startMeteorApp(settings, options);
      for (const person of ['ann', 'bob']) {
        const loginTokens = [{ hashedToken: Accounts._hashLoginToken(LOGIN(person)), when: new Date() }];
        await Meteor.users.updateAsync(person, { $set: { services: { resume: { loginTokens } } } });
      }
      WebApp.httpServer.listen(0, '127.0.0.1');
      await once(WebApp.httpServer, 'listening');
      address = `127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    };
    const request = (
      person: string | undefined,
      path: string,
      {
        method = 'GET',
        body,
        headers = {},
      }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
    ): Promise<Response> =>
      fetch(`http://${address}${path}`, {
        method,
        headers: {
          ...(person === undefined ? {} : { authorization: `Bearer ${LOGIN(person)}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    afterEach(() => app.stop());

    it('start, stream, decide and show runs', async () => {
      await start();
      const stream = await readSse(`http://${address}/runs/stream`, { authorization: `Bearer ${LOGIN('bob')}` });
      app.simulator.enqueue({ calls: [{ name: 'danger', arguments: { text: 'x' } }] }, { text: 'Done.' });
      const started = await request('bob', '/api/runs', {
        method: 'POST',
        body: { requestId: 'r', providerId: 'shared', input: 'Hello', tools: ['danger'] },
      });
      expect(started.status).to.equal(202);
      const { executionId } = (await started.json()) as { executionId: string };
      const asked = await app.events.seen('tool:approval_required', (event) => event.executionId === executionId);
      const approved = await request('bob', `/api/runs/${executionId}/approve`, {
        method: 'POST',
        body: { callId: asked.callId, argumentsHash: asked.argumentsHash },
      });
      expect(await approved.json()).to.include({ executionId, callId: asked.callId });
      await app.events.seen('run:completed', (event) => event.executionId === executionId);
      expect(await (await request('bob', `/api/runs/${executionId}`)).json()).to.have.nested.property(
        'run.state',
        'completed',
      );
      await stream.waitFor(({ type }) => type === 'run:completed');
      stream.stop();
    });

    it('answer lists to users, and metrics to admins only', async () => {
      await start();
      for (const path of ['/api/runs', '/api/tools', '/api/stats', '/api/providers']) {
        expect((await request('bob', path)).status, path).to.equal(200);
        expect((await request(undefined, path)).status, `${path} without a login`).to.equal(401);
      }
      expect((await request('bob', '/metrics')).status).to.equal(403);
      expect((await request('ann', '/metrics')).status).to.equal(200);
      expect((await request('ann', '/api/secrets/rotate', { method: 'POST' })).status).to.equal(200);
    });

    it('apply the roles of the user to providers', async () => {
      await start({ findRoles: (userId) => Promise.resolve(userId === 'bob' ? ['writers'] : []) });
      await app.host.providers.service.create({
        providerId: 'writing',
        name: 'Writing',
        vendor: 'openai',
        auth: { kind: 'api_key' },
        apiKey: 'sk-1',
        access: { roles: ['writers'] },
      });
      const { providers } = (await (await request('bob', '/api/providers')).json()) as { providers: { _id: string }[] };
      expect(providers.map(({ _id }) => _id)).to.include('writing');
    });

    it('leave pages and unknown paths to the app', async () => {
      await start();
      for (const path of [
        '/',
        '/runs',
        '/runs/abc',
        '/tools',
        '/stats',
        '/providers',
        '/tokens',
        '/session',
        '/about',
      ]) {
        const page = await request(undefined, path, { headers: NAVIGATION });
        expect(page.status, path).to.equal(200);
        expect(page.headers.get('content-type'), path).to.include('text/html');
      }
      expect(
        (await request('bob', '/runs', { headers: { accept: 'text/html' } })).headers.get('content-type'),
      ).to.include('text/html');
      // A script of a page is no navigation, whatever it accepts.
      const fetched = await request('bob', '/runs', {
        headers: { accept: 'text/html', 'sec-fetch-dest': 'empty' },
      });
      expect(fetched.headers.get('content-type')).to.include('application/json');
    });

    it('answer paths that cannot be decoded themselves, in the shape of their API', async () => {
      await start({ httpPath: '/ai' });
      for (const [path, member] of [
        ['/ai/v1/responses/%', 'error.type'],
        ['/ai/v1/messages/batches/%', 'request_id'],
        ['/ai/v1beta/models/%', 'error.status'],
        ['/ai/runs/%', 'error.code'],
      ] as const) {
        const answer = await request('bob', path);
        expect(answer.status, path).to.equal(400);
        expect(await answer.json(), path).to.have.nested.property(member);
      }
      expect((await request('bob', '/ai/oauth/%/start')).status).to.equal(404);
    });

    it('limit invalid tokens', async () => {
      await start({}, { AUTH_FAILURES_PER_ADDRESS: 2 });
      const guess = (token: string): Promise<Response> =>
        request(undefined, '/v1/models', { headers: { authorization: `Bearer ${token}` } });
      expect((await request('bob', '/v1/models')).status).to.equal(200);
      const answers = [await guess('a'), await guess('b'), await guess('c')];
      expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 429]);
      expect((await request('bob', '/v1/models')).status, 'a login that is in use').to.equal(200);
    });

    it('authenticate by headers alone, and permit no other origin to send them', async () => {
      await start();
      const cookie = `meteor_login_token=${LOGIN('bob')}; bolide-session=${'a'.repeat(43)}`;
      expect((await request(undefined, '/api/runs', { headers: { cookie } })).status).to.equal(401);
      const preflight = await request(undefined, '/api/runs', {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-headers': 'authorization' },
      });
      expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
    });

    it('are mounted below /ai by default, with their WebSockets and OAuth pages, and nowhere else', async () => {
      await start({ httpPath: undefined });
      expect((await request('bob', '/ai/runs')).status).to.equal(200);
      expect((await request('bob', '/ai/v1/models')).status).to.equal(200);
      expect((await request('bob', '/ai/v1beta/models?key=none')).status).to.equal(200);
      expect((await request(undefined, `/ai/v1beta/models?key=${LOGIN('bob')}`)).status).to.equal(200);
      expect((await request('bob', '/api/runs')).headers.get('content-type')).to.include('text/html');
      expect((await request('bob', '/v1/models')).headers.get('content-type')).to.include('text/html');
      const headers = { authorization: `Bearer ${LOGIN('bob')}` };
      const socket = new WebSocket(`ws://${address}/ai/v1/responses`, { headers });
      await once(socket, 'open');
      socket.terminate();
      await app.host.providers.service.create({
        providerId: 'acme',
        name: 'Acme',
        vendor: 'openai_compatible',
        baseURL: 'http://127.0.0.1:1/v1',
        auth: { kind: 'oauth_user', issuer: 'http://127.0.0.1:1', clientId: 'c', clientSecret: 's'.repeat(32) },
        access: 'everyone',
      });
      const url = String(await app.call('bob', 'ai.providers.connect', { providerId: 'acme' }));
      expect(url.startsWith(Meteor.absoluteUrl('ai/oauth/acme/start?'))).to.equal(true);
      const confirmation = await request(undefined, new URL(url).pathname + new URL(url).search);
      expect(await confirmation.text()).to.include('action="/ai/oauth/acme/start"');
    });

    it('reject a mount path that is none', async () => {
      await start();
      await app.stop();
      for (const httpPath of ['ai', '/ai/', '/a b', '/:any'])
        expect(await failure(startMeteorApp({}, { httpPath })), httpPath).to.have.property('code', 'invalid-request');
      app = await startMeteorApp();
    });
  }),
);
