/**
 * The HTTP API of a dashboard without DDP: runs and their stream, tools, counts, providers, and the session of its
 * page.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { ToolSummary } from '../../imports/business/ai/domain/types/ToolSummary';
import type { ModelView } from '../../imports/business/ai/domain/types/ModelViews';
import type { PromptDetailView, PromptView } from '../../imports/business/prompts/domain/Prompts';
import type { RunCountView, RunDetail, RunView } from '../../imports/business/ai/domain/types/RunViews';
import type { PublicProvider } from '../../imports/business/providers/domain/entities/PublicProvider';
import type { RunningServer } from '../../imports/host/node/startServer';
import { readSse } from '../support/readSse';
import type { SseReader } from '../support/readSse';
import { recordEvents } from '../support/recordEvents';
import type { EventRecord } from '../support/recordEvents';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

type Person = 'local' | 'bob' | 'cat' | 'nobody';
interface Answer {
  readonly status: number;
  /** Throws if a field that a test reads is missing. */
  readonly body: Body;
  readonly headers: Headers;
}

interface Body extends RunDetail, PromptDetailView {
  readonly models: readonly ModelView[];
  readonly prompts: readonly PromptView[];
  readonly executionId: string;
  readonly runs: readonly RunView[];
  readonly tools: readonly ToolSummary[];
  readonly counts: readonly RunCountView[];
  readonly providers: readonly PublicProvider[];
  readonly provider: PublicProvider;
  readonly url: string;
  readonly error: { readonly code: string; readonly message: string };
}

const RUN_REQUEST = { providerId: 'shared', input: 'Hello', tools: ['get_weather'] };

describe(
  'over HTTP, the dashboard’s',
  inFlowingTime(() => {
    let server: RunningServer;
    let simulator: Simulator;
    let events: EventRecord;
    const tokens: Record<Person, string> = {
      local: 'the-token-of-the-local-user',
      bob: '',
      cat: '',
      nobody: 'no-token',
    };
    const streams: SseReader[] = [];
    let requests = 0;

    before(async () => {
      simulator = await startSimulator();
      server = await startStandalone({ BOLIDE_API_TOKEN: tokens.local, AI_ALLOW_PRIVATE_HOSTS: 'true' });
      events = recordEvents(server.host.module.loop);
      server.host.module.tools.register({ name: 'outside', description: 'Answered from outside.', kind: 'external' });
      for (const userId of ['bob', 'cat'] as const)
        tokens[userId] = (
          await server.host.apiTokens.tokens.issue({ userId, name: 'test', scopes: ['generate', 'read', 'approve'] })
        ).token;
      const shared = {
        providerId: 'shared',
        name: 'Shared',
        vendor: 'openai',
        baseURL: simulator.baseURL('openai'),
        auth: { kind: 'api_key' },
        apiKey: 'sk-of-all',
        access: 'everyone',
      };
      await server.host.providers.service.create(shared);
    });
    after(async () => {
      for (const stream of streams) stream.stop();
      await server.close();
      await simulator.close();
    });

    const bearer = (person: Person): Record<string, string> =>
      person === 'nobody' ? {} : { authorization: `Bearer ${tokens[person]}` };
    async function send(
      person: Person,
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = bearer(person),
    ): Promise<Answer> {
      const response = await fetch(server.url + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: (text.startsWith('{') ? JSON.parse(text) : text) as Body,
      };
    }
    const get = (person: Person, path: string): Promise<Answer> => send(person, 'GET', path);
    const post = (person: Person, path: string, body?: unknown): Promise<Answer> => send(person, 'POST', path, body);
    const watch = async (person: Person, query = '', headers: Record<string, string> = {}): Promise<SseReader> => {
      const stream = await readSse(`${server.url}/api/runs/stream${query}`, { ...bearer(person), ...headers });
      streams.push(stream);
      return stream;
    };
    const unique = (fields: object = {}): object => ({ requestId: `r${(requests += 1)}`, ...RUN_REQUEST, ...fields });
    async function start(person: Person, tool?: string): Promise<string> {
      if (tool !== undefined) simulator.enqueue({ calls: [{ name: tool, arguments: { text: 'x' } }] });
      const { body } = await post(person, '/api/runs', unique({ tools: tool === undefined ? [] : [tool] }));
      if (tool !== undefined) await events.seen('tool:pending', (event) => event.executionId === body.executionId);
      return body.executionId;
    }
    async function ended(executionId: string): Promise<void> {
      await until(async () => (await get('local', `/api/runs/${executionId}`)).body.run.endedAt !== undefined);
    }

    describe('runs', () => {
      it('are started, listed, read and filtered', async () => {
        simulator.enqueue({ calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }, { text: 'Rain in Oslo.' });
        const started = await post('bob', '/api/runs', unique());
        expect(started.status).to.equal(202);
        const { executionId } = started.body;
        await ended(executionId);
        const { body } = await get('bob', `/api/runs/${executionId}`);
        expect(body.run).to.include({
          _id: executionId,
          userId: 'bob',
          providerId: 'shared',
          state: 'completed',
          iterations: 2,
          title: 'Hello',
        });
        expect(body.run.transcript).to.contain('Rain in Oslo.');
        expect(body.toolCalls).to.have.length(1);
        expect(body.toolCalls[0]).to.include({ name: 'get_weather', state: 'completed', arguments: '{"city":"Oslo"}' });
        expect(body.deltas.map(({ text }) => text).join('')).to.equal('Rain in Oslo.');
        const ids = async (query: string): Promise<readonly string[]> =>
          (await get('bob', `/runs${query}`)).body.runs.map(({ _id }) => _id);
        expect(await ids('')).to.include(executionId);
        expect(await ids('?state=completed&since=0')).to.include(executionId);
        expect(await ids('?state=failed')).to.deep.equal([]);
        expect(await ids(`?since=${Date.now() + 60_000}`)).to.deep.equal([]);
      });

      it('are started once for a repeated request', async () => {
        const request = unique({ tools: [] });
        const [first, second] = await Promise.all([
          post('bob', '/api/runs', request),
          post('bob', '/api/runs', request),
        ]);
        expect(second.body).to.deep.equal(first.body);
        expect((await post('bob', '/api/runs', { ...request, input: 'Other' })).status).to.equal(409);
      });

      it('are visible to their owner and admins only', async () => {
        const executionId = await start('bob', 'send_reminder');
        for (const person of ['bob', 'local'] as const)
          expect((await get(person, `/api/runs/${executionId}`)).status).to.equal(200);
        expect((await get('cat', '/api/runs')).body.runs.some(({ userId }) => userId !== 'cat')).to.equal(false);
        expect((await get('local', '/api/runs')).body.runs.some(({ userId }) => userId === 'bob')).to.equal(true);
        const bodies: Record<string, object | undefined> = {
          '': undefined,
          '/cancel': {},
          '/approve': { callId: 'x', argumentsHash: 'a'.repeat(64) },
          '/reject': { callId: 'x', argumentsHash: 'a'.repeat(64) },
          '/tool-results': { callId: 'x', output: 1 },
        };
        for (const [path, body] of Object.entries(bodies)) {
          const method = body === undefined ? 'GET' : 'POST';
          const others = await send('cat', method, `/api/runs/${executionId}${path}`, body);
          const unknown = await send('cat', method, `/api/runs/no-such-run${path}`, body);
          expect(others.status, path).to.equal(404);
          expect(others.body).to.deep.equal(unknown.body);
          expect(others.body.error.code).to.equal('not-found');
          expect((await send('nobody', method, `/api/runs/${executionId}${path}`, body)).status).to.equal(401);
          // The owner's request gets past the access check.
          if (path !== '' && path !== '/cancel')
            expect((await send('bob', method, `/api/runs/${executionId}${path}`, body)).status).to.equal(400);
        }
        expect((await post('bob', `/api/runs/${executionId}/cancel`)).body).to.have.property('state');
        await ended(executionId);
        expect((await get('bob', `/api/runs/${executionId}`)).body.run.state).to.equal('cancelled');
      });

      it('are not approved by a token that only starts them, and say who approved them', async () => {
        const { tokens: issuer } = server.host.apiTokens;
        const starter = await issuer.issue({ userId: 'bob', name: 'starts', scopes: ['generate', 'read'] });
        const approver = await issuer.issue({ userId: 'bob', name: 'decides', scopes: ['approve', 'read'] });
        const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
        const executionId = await start('bob', 'send_reminder');
        const { callId, argumentsHash } = await events.seen(
          'tool:approval_required',
          (event) => event.executionId === executionId,
        );
        const decision = { callId, argumentsHash };
        for (const path of ['approve', 'reject']) {
          const refused = await send('bob', 'POST', `/api/runs/${executionId}/${path}`, decision, as(starter.token));
          expect(refused.status).to.equal(403);
          expect(refused.body.error.code).to.equal('permission-denied');
        }
        const before = Date.now();
        const approved = await send('bob', 'POST', `/api/runs/${executionId}/approve`, decision, as(approver.token));
        expect(approved.status).to.equal(200);
        await ended(executionId);
        const [call] = (await get('bob', `/api/runs/${executionId}`)).body.toolCalls;
        expect(call?.decidedBy).to.include({ userId: 'bob', tokenId: approver.id });
        expect(call?.decidedBy?.at).to.be.within(before, Date.now());
        const started = await send('bob', 'POST', '/api/runs', unique(), as(approver.token));
        expect(started.status).to.equal(403);
      });

      it('continue when a call is approved as shown, rejected, or settled with an external result', async () => {
        const approved = await start('bob', 'send_reminder');
        const shown = await events.seen('tool:approval_required', (event) => event.executionId === approved);
        const { callId, argumentsHash } = shown;
        expect(argumentsHash).to.equal(createHash('sha256').update(shown.arguments).digest('hex'));
        expect(
          (await post('bob', `/api/runs/${approved}/approve`, { callId, argumentsHash: 'b'.repeat(64) })).status,
        ).to.equal(409);
        expect((await post('bob', `/api/runs/${approved}/approve`, { callId, argumentsHash })).body).to.have.property(
          'state',
        );
        await ended(approved);
        const rejectedRun = await start('bob', 'send_reminder');
        const approvalRequired = await events.seen(
          'tool:approval_required',
          (event) => event.executionId === rejectedRun,
        );
        expect(
          (
            await post('bob', `/api/runs/${rejectedRun}/reject`, {
              callId: approvalRequired.callId,
              argumentsHash: approvalRequired.argumentsHash,
              reason: 'No.',
            })
          ).status,
        ).to.equal(200);
        await ended(rejectedRun);
        const outside = await start('bob', 'outside');
        const call = await events.seen('tool:executing', (event) => event.executionId === outside);
        expect(
          (await post('bob', `/api/runs/${outside}/tool-results`, { callId: call.callId, output: { $set: 1 } })).body,
        ).to.deep.equal({ executionId: outside, callId: call.callId, result: 'accepted', state: 'completed' });
        await ended(outside);
      });

      const WRONG: readonly (readonly [path: string, body: unknown, status: number])[] = [
        ['/api/runs', {}, 400],
        ['/api/runs', [], 400],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, providerId: { $gt: '' } }, 400],
        ['/api/runs', { requestId: { $ne: null }, ...RUN_REQUEST }, 400],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, unknown: 1 }, 400],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, baseURL: 'https://evil.example' }, 400],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, input: 'x'.repeat(4_000_001) }, 400],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, input: 'x'.repeat(33 * 1024 * 1024) }, 413],
        ['/api/runs', { requestId: 'x', ...RUN_REQUEST, providerId: 'nothing' }, 403],
      ];
      for (const [path, body, status] of WRONG) {
        it(`are not started by ${JSON.stringify(body).slice(0, 90)}`, async () => {
          const answer = await post('bob', path, body);
          expect(answer.status).to.equal(status);
          expect(answer.body.error).to.include.keys('code', 'message');
        });
      }

      it('reject invalid filters', async () => {
        for (const query of [
          '?state=none',
          '?state[$gt]=',
          '?since=-1',
          '?since=x',
          '?skip=5',
          '?limit=5&limit=6',
          '?waiting=no',
        ])
          expect((await get('bob', `/runs${query}`)).status, query).to.equal(400);
        expect((await get('bob', '/api/runs?userId=ann')).status).to.equal(403);
        expect((await get('bob', '/api/runs/a/b/c')).status).to.equal(404);
        expect((await send('bob', 'DELETE', '/api/runs')).status).to.equal(405);
      });
    });

    describe('stream of runs', () => {
      it('sends all events to the owner and admins, and none to others', async () => {
        const [bob, admin, cat] = await Promise.all([watch('bob'), watch('local'), watch('cat')]);
        const executionId = await start('bob', 'get_weather');
        const own = await bob.waitFor(
          ({ type, data }) => type === 'run:completed' && data['executionId'] === executionId,
        );
        await admin.waitFor(({ id }) => id === own.id);
        const started = bob.events.find(({ type }) => type === 'run:started');
        expect(started?.data).to.include({ userId: 'bob', providerId: 'shared', title: 'Hello', executionId });
        expect(started?.data['createdAt']).to.be.a('number');
        // `changes` belongs to no run; it comes once the run's state is stored, whenever that is.
        const ofRuns = (stream: SseReader): SseReader['events'] =>
          stream.events.filter(({ type }) => type !== 'changes');
        const numbers = ofRuns(bob).map(({ id }) => id);
        expect(numbers).to.deep.equal([...numbers].sort((left, right) => left - right));
        expect(ofRuns(bob).every(({ type, data }) => data['type'] === type)).to.equal(true);
        // Once cat has the events of her own run, events of bob's earlier run would have arrived.
        const hers = await start('cat');
        await cat.waitFor(({ type, data }) => type === 'run:completed' && data['executionId'] === hers);
        expect(ofRuns(cat).filter(({ data }) => data['executionId'] !== hers)).to.deep.equal([]);
        expect((await watch('nobody')).status).to.equal(401);
      });

      it('filters by run, and sends nothing of another user’s run', async () => {
        const executionId = await start('bob', 'send_reminder');
        const [one, others] = await Promise.all([
          watch('bob', `?executionId=${executionId}`),
          watch('cat', `?executionId=${executionId}`),
        ]);
        const other = await start('bob');
        await events.seen('run:completed', (event) => event.executionId === other);
        await post('bob', `/api/runs/${executionId}/cancel`);
        await one.waitFor(({ type }) => type === 'run:cancelled');
        expect(one.events.some(({ data }) => data['executionId'] !== executionId)).to.equal(false);
        expect(others.events).to.deep.equal([]);
      });

      it('omits what lists don’t show in the brief form', async () => {
        const [full, brief] = await Promise.all([watch('bob'), watch('bob', '?brief')]);
        const executionId = await start('bob');
        for (const stream of [full, brief])
          await stream.waitFor(({ type, data }) => type === 'run:completed' && data['executionId'] === executionId);
        const typesOf = ({ events: seen }: typeof full): readonly string[] =>
          seen.filter(({ data }) => data['executionId'] === executionId).map(({ type }) => type);
        expect(typesOf(full)).to.include('llm:delta');
        expect(typesOf(brief)).to.deep.equal(typesOf(full).filter((type) => type !== 'llm:delta'));
      });

      it('replays missed events once after a reconnect', async () => {
        const first = await watch('bob');
        const executionId = await start('bob', 'send_reminder');
        const last = await first.waitFor(
          ({ type, data }) => type === 'tool:approval_required' && data['executionId'] === executionId,
        );
        first.stop();
        await post('bob', `/api/runs/${executionId}/cancel`);
        await ended(executionId);
        const second = await watch('bob', '', { 'last-event-id': String(last.id) });
        await second.waitFor(({ type, data }) => type === 'run:cancelled' && data['executionId'] === executionId);
        expect(second.events.every(({ id }) => id > last.id)).to.equal(true);
        expect(
          second.events.filter(({ type, data }) => type === 'run:cancelled' && data['executionId'] === executionId),
        ).to.have.length(1);
      });

      for (const id of ['1', 'no-number', '9007199254740991']) {
        it(`sends resync to a client that resumes with the unknown id ${id}`, async () => {
          const stream = await watch('bob', '', { 'last-event-id': id });
          expect((await stream.waitFor(({ type }) => type === 'resync')).data).to.deep.equal({});
        });
      }

      it('disconnects a client that falls behind, with resync as the last event', async () => {
        const { events: log } = server.host.runs;
        // A subscriber of another test would fall behind too.
        for (const stream of streams.splice(0)) stream.stop();
        await until(() => log.subscriberCount === 0);
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
        socket.write(
          `GET /api/runs/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokens.bob}\r\nconnection: close\r\n\r\n`,
        );
        await new Promise((resolve) => socket.once('readable', resolve));
        socket.pause();
        expect(log.subscriberCount).to.equal(1);
        const event = {
          type: 'run:started',
          userId: 'bob',
          model: 'x'.repeat(200_000),
          executionId: 'big',
          at: 0,
          seq: 1,
        } as const;
        // More than the socket buffers of both sides hold.
        await until(() => {
          log.add(event, 'bob');
          return log.subscriberCount === 0;
        });
        let text = '';
        socket.on('data', (chunk: Buffer) => (text = (text + chunk.toString('latin1')).slice(-200)));
        socket.resume();
        await new Promise((resolve) => socket.once('close', resolve));
        expect(text).to.contain('event: resync');
      });

      it('has headers that prevent proxies from caching or rewriting it', async () => {
        const response = await fetch(`${server.url}/api/runs/stream`, {
          headers: bearer('bob'),
          signal: AbortSignal.timeout(60_000),
        });
        expect(Object.fromEntries(response.headers)).to.include({
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-cache, no-transform',
          'x-accel-buffering': 'no',
        });
        await response.body?.cancel();
      });
    });

    describe('other routes', () => {
      it('lists tools with the outcomes of the user’s calls or, for admins, of all calls', async () => {
        const counts = async (person: Person): Promise<ToolSummary['counts'] | undefined> =>
          (await get(person, '/api/tools')).body.tools.find(({ name }) => name === 'get_weather')?.counts;
        expect((await counts('bob'))?.completed).to.be.greaterThan(0);
        expect(await counts('cat')).to.deep.equal({});
        expect((await counts('local'))?.completed).to.be.at.least((await counts('bob'))!.completed!);
        const { tools } = (await get('bob', '/api/tools')).body;
        expect(tools.find(({ name }) => name === 'send_reminder')).to.include({
          needsApproval: true,
          blocking: true,
          external: false,
        });
        expect(tools.find(({ name }) => name === 'outside')).to.include({ external: true });
      });

      it('lists the models that the user may choose from', async () => {
        const { models } = (await get('bob', '/models')).body;
        expect(models[0]).to.include({ id: 'shared/gpt-5.4-mini', isDefault: true, maxTokens: 400_000 });
        expect((await get('nobody', '/models')).status).to.equal(401);
      });

      it('saves, loads and removes prompts', async () => {
        const saved = (await post('bob', '/api/prompts', { name: 'Hi', content: { input: 'Hello' } })).body;
        await post('bob', '/api/prompts', { name: 'Hi', content: { input: 'Hello again' } });
        expect(
          (await get('bob', '/api/prompts')).body.prompts.map(({ name, version }) => [name, version]),
        ).to.deep.equal([['Hi', 2]]);
        expect((await get('cat', '/api/prompts')).body.prompts).to.deep.equal([]);
        expect((await get('bob', `/api/prompts/${saved._id}`)).body.content).to.deep.equal({ input: 'Hello again' });
        expect((await get('bob', `/api/prompts/${saved._id}?version=1`)).body.content).to.deep.equal({
          input: 'Hello',
        });
        expect((await get('cat', `/api/prompts/${saved._id}`)).status).to.equal(404);
        expect((await post('bob', '/api/prompts', { name: 'Hi', shared: true, content: {} })).status).to.equal(403);
        expect((await send('bob', 'DELETE', `/api/prompts/${saved._id}`)).body).to.deep.equal({ removed: true });
        expect((await get('bob', '/api/prompts')).body.prompts).to.deep.equal([]);
      });

      it('counts runs by user, provider, day and state', async () => {
        const executionId = await start('cat');
        await ended(executionId);
        const count = async (person: Person): Promise<number> =>
          (await get(person, '/api/stats')).body.counts
            .filter((each) => each.state === 'completed' && each.userId === 'cat')
            .reduce((sum, each) => sum + each.count, 0);
        await until(async () => (await count('local')) >= 2);
        expect(await count('cat')).to.equal(await count('local'));
        expect(await count('bob')).to.equal(0);
      });

      it('lists a user’s providers, tests them, and returns the URL that connects an account', async () => {
        const auth = {
          kind: 'oauth_user',
          issuer: 'https://server.example',
          clientId: 'c',
          clientSecret: 's',
          scopes: ['s'],
        };
        await server.host.providers.service.create({
          providerId: 'theirs',
          name: 'Theirs',
          vendor: 'openai',
          auth,
          access: 'everyone',
        });
        const names = async (person: Person): Promise<readonly string[]> =>
          (await get(person, '/api/providers')).body.providers.map(({ _id }) => _id);
        expect(await names('bob'))
          .to.include('shared')
          .and.not.to.include('openai');
        expect(await names('local')).to.include.members(['shared', 'openai']);
        expect((await post('bob', '/api/providers/shared/test')).body.provider).to.include({
          _id: 'shared',
          connected: true,
        });
        expect((await post('bob', '/api/providers/openai/test')).status).to.equal(403);
        expect((await post('nobody', '/api/providers/shared/test')).status).to.equal(401);
        expect((await post('bob', '/api/providers/theirs/connect')).body.url).to.match(
          /^http:\/\/127\.0\.0\.1:\d+\/oauth\/theirs\/start/,
        );
        expect((await post('bob', '/api/providers/shared/connect')).status).to.equal(400);
      });
    });

    describe('page', () => {
      const origin = (): string => server.url;
      async function signIn(
        token = tokens.local,
        headers: Record<string, string> = { origin: origin() },
      ): Promise<Answer> {
        return send('nobody', 'POST', '/api/session', { token }, headers);
      }
      const cookieOf = (answer: Answer): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';

      it('is served with its files, under a policy that allows nothing else', async () => {
        const page = await get('nobody', '/');
        expect(page.status).to.equal(200);
        expect(page.headers.get('content-security-policy'))
          .to.contain("script-src 'self'")
          .and.to.contain("frame-ancestors 'none'")
          .and.not.to.contain('unsafe');
        const [script] = /\/dashboard\/[\w.-]+\.js/.exec(JSON.stringify(page.body)) ?? [];
        const file = await get('nobody', script ?? '/none');
        expect(file.status).to.equal(200);
        expect(file.headers.get('content-type')).to.contain('text/javascript');
        expect((await get('nobody', '/dashboard/none.js')).status).to.equal(404);
        expect((await get('nobody', '/dashboard/..%2f..%2fpackage.json')).status).to.equal(404);
      });

      it('has an icon, from the files that Meteor serves, too', async () => {
        const page = JSON.stringify((await get('nobody', '/')).body).replaceAll('\\', '');
        expect([...page.matchAll(/rel="icon" href="([^"]+)"/g)].map(([, href]) => href)).to.deep.equal([
          '/favicon.ico',
          '/favicon.svg',
        ]);
        for (const [path, type] of [
          ['/favicon.ico', 'image/x-icon'],
          ['/favicon.svg', 'image/svg+xml'],
        ] as const) {
          const icon = await fetch(server.url + path);
          expect(icon.status).to.equal(200);
          expect(icon.headers.get('content-type')).to.contain(type);
          expect(icon.headers.get('cache-control')).not.to.contain('immutable');
          expect(Buffer.from(await icon.arrayBuffer())).to.deep.equal(await readFile(`public${path}`));
        }
      });

      it('exchanges a token for a cookie that no script and no other site can use', async () => {
        const answer = await signIn();
        expect(answer.status).to.equal(200);
        expect(answer.body).to.include({ userId: 'local', isAdmin: true });
        expect(answer.headers.get('set-cookie')).to.match(
          /^bolide-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
        );
        expect(answer.headers.get('set-cookie')).not.to.contain(tokens.local);
        const cookie = cookieOf(answer);
        expect((await send('nobody', 'GET', '/api/runs', undefined, { cookie })).status).to.equal(200);
        expect((await send('nobody', 'GET', '/api/session', undefined, { cookie })).body).to.include({
          userId: 'local',
        });
        expect(
          (
            await send('nobody', 'POST', '/api/runs', unique({ tools: [], providerId: 'shared' }), {
              cookie,
              origin: origin(),
            })
          ).status,
        ).to.equal(202);
      });

      it('identifies each token’s owner, and rejects requests without one', async () => {
        const bob = cookieOf(await signIn(tokens.bob));
        expect((await send('nobody', 'GET', '/api/session', undefined, { cookie: bob })).body).to.include({
          userId: 'bob',
          isAdmin: false,
        });
        for (const token of ['wrong', '']) expect((await signIn(token)).status).to.equal(401);
        expect(
          (await send('nobody', 'POST', '/api/session', { token: { $gt: '' } }, { origin: origin() })).status,
        ).to.equal(400);
        for (const cookie of ['bolide-session=x', `bolide-session=${'A'.repeat(43)}`, `${bob}; ${bob}`])
          expect((await send('nobody', 'GET', '/api/runs', undefined, { cookie })).status).to.equal(401);
      });

      it('ends its session permanently', async () => {
        const cookie = cookieOf(await signIn());
        expect(
          (await send('nobody', 'DELETE', '/api/session', undefined, { cookie, origin: origin() })).status,
        ).to.equal(204);
        expect((await send('nobody', 'GET', '/api/session', undefined, { cookie })).status).to.equal(401);
      });

      it('ignores its cookie in requests of other pages', async () => {
        const cookie = cookieOf(await signIn());
        const { port } = new URL(origin());
        const FOREIGN: readonly Record<string, string>[] = [
          { origin: 'http://evil.example' },
          { origin: 'null' },
          { origin: `http://127.0.0.1:${Number(port) + 1}` },
          { origin: `http://localhost:${port}` },
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
        ];
        for (const headers of FOREIGN) {
          // Runs of earlier tests may still end.
          const startedRuns = (): number => events.events.filter(({ type }) => type === 'run:started').length;
          const started = startedRuns();
          for (const [method, path] of [
            ['POST', '/api/runs'],
            ['GET', '/api/runs'],
            ['GET', '/api/runs/stream'],
            ['POST', '/api/session'],
            ['DELETE', '/api/session'],
          ] as const) {
            const body =
              method !== 'POST' ? undefined : path === '/api/session' ? { token: tokens.local } : unique({ tools: [] });
            expect(
              (await send('nobody', method, path, body, { ...headers, cookie })).status,
              `${method} ${path} ${JSON.stringify(headers)}`,
            ).to.equal(403);
          }
          expect(startedRuns()).to.equal(started);
        }
        // The same requests succeed from its own page, and with a token from anywhere.
        expect(
          (
            await send('nobody', 'GET', '/api/runs', undefined, {
              cookie,
              origin: origin(),
              'sec-fetch-site': 'same-origin',
            })
          ).status,
        ).to.equal(200);
        expect(
          (await send('nobody', 'GET', '/api/runs', undefined, { ...bearer('bob'), origin: 'http://evil.example' }))
            .status,
        ).to.equal(200);
      });

      it('lets its cookie authenticate requests of scripts, but nothing that a browser opens', async () => {
        const cookie = cookieOf(await signIn());
        // Node's fetch sets `sec-fetch-mode` itself.
        const status = (path: string, headers: Record<string, string>): Promise<number | undefined> =>
          statusUnder('127.0.0.1', 'GET', path, cookie, { 'sec-fetch-site': 'same-origin', ...headers });
        const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
        const fetched = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' };
        const OPENED: readonly Record<string, string>[] = [
          page,
          { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' },
          { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'object' },
          { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
          { accept: 'text/html,*/*;q=0.8' },
        ];
        for (const path of [
          ...['/v1/models', '/V1/models', '/openai/v1/models', '/openai/models', '/v1beta/models'],
          ...['/api/tools', '/API/tools', '/api/audit/export', '/metrics'],
        ]) {
          for (const headers of OPENED)
            expect(await status(path, headers), `${path} ${JSON.stringify(headers)}`).to.equal(401);
          expect(await status(path, fetched), path).to.equal(200);
        }
        expect(await status('/v1/models', { ...bearer('bob'), ...page }), 'with a token').to.equal(200);
        expect(await status('/runs', page), 'a path of the dashboard').to.equal(200);
      });

      it('is not served under a foreign host name, against DNS rebinding', async () => {
        const cookie = cookieOf(await signIn());
        for (const host of [
          'evil.example',
          'evil.example:3000',
          'localhost.evil.example',
          '127.0.0.1.evil.example',
          'a b',
        ]) {
          for (const [method, path] of [
            ['GET', '/'],
            ['GET', '/api/session'],
            ['GET', '/api/runs'],
            ['POST', '/api/session'],
          ] as const) {
            expect(await statusUnder(host, method, path, cookie), `${host} ${path}`).to.be.oneOf([400, 421]);
          }
        }
        for (const host of ['localhost:1', '127.0.0.1', '[::1]:3000', 'bolide.localhost'])
          expect(await statusUnder(host, 'GET', '/api/session', cookie), host).to.equal(200);
      });

      function statusUnder(
        host: string,
        method: string,
        path: string,
        cookie: string,
        more: Record<string, string> = {},
      ): Promise<number | undefined> {
        const { port } = new URL(origin());
        const headers = { host, cookie, ...(method === 'POST' ? { 'content-type': 'application/json' } : {}), ...more };
        return new Promise((resolve, reject) => {
          const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (response) => {
            response.resume();
            resolve(response.statusCode);
          });
          sent.on('error', reject);
          sent.end(method === 'POST' ? JSON.stringify({ token: tokens.local }) : undefined);
        });
      }
    });
  }),
);
