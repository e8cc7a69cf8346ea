/** What a user may do at a time and in a minute: by every way in, with a refusal in the way's own shape. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { LimitedServer } from '../support/LimitedServer';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { openSocket } from '../support/responsesSocket';
import { startTestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

const MODEL = 'groq/llama-3.3-70b-versatile';
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] };
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const UI_CHAT = { id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] };
const AG_UI = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [], forwardedProps: {} };
const AT_A_TIME = 'You are limited to 1 request at a time: 1 are in progress. Wait for one to end.';

describe('The limits of a user', () => {
  let limited: LimitedServer;
  const serve = (env: Readonly<Record<string, string>>): void => {
    before(async () => {
      limited = await LimitedServer.start(env);
    });
    after(() => limited.close());
  };

  describe('with one request in progress', () => {
    let leave: AbortController;
    let end: () => void;
    serve({ USER_PARALLEL_CALLS: '1' });
    before(async () => {
      leave = new AbortController();
      end = limited.hold();
      limited
        .send(limited.tokens.ann, 'POST', '/v1/chat/completions', { ...CHAT, stream: true }, leave.signal)
        .catch(() => undefined);
      await limited.simulator.nextRequest();
    });

    const openAI = (type: string): object => ({
      error: { message: AT_A_TIME, type, param: null, code: 'rate_limit_exceeded' },
    });
    const app = { error: { code: 'rate-limited', message: AT_A_TIME } };
    const WAYS: readonly (readonly [method: string, path: string, body: unknown, refusal: unknown])[] = [
      ['POST', '/v1/chat/completions', CHAT, openAI('rate_limit_error')],
      ['POST', '/v1/chat/completions', { ...CHAT, stream: true }, openAI('rate_limit_error')],
      ['POST', '/v1/responses', { model: MODEL, input: 'Hello' }, openAI('too_many_requests')],
      ['POST', '/v1/responses', { model: MODEL, input: 'Hello', background: true }, openAI('too_many_requests')],
      ['POST', '/v1/embeddings', { model: 'openai', input: 'x' }, openAI('rate_limit_error')],
      ['GET', '/v1/models', undefined, openAI('rate_limit_error')],
      ['POST', '/v1/messages', { ...CHAT, max_tokens: 9 }, { type: 'rate_limit_error', message: AT_A_TIME }],
      [
        'POST',
        `/v1beta/models/${encodeURIComponent(MODEL)}:generateContent`,
        GEMINI,
        { error: { code: 429, message: AT_A_TIME, status: 'RESOURCE_EXHAUSTED' } },
      ],
      ['POST', '/api/input', { message: 'Hello', model: MODEL }, openAI('too_many_requests')],
      ['POST', '/api/runs', { requestId: 'r', providerId: 'groq', input: 'Hello' }, app],
      ['GET', '/api/runs', undefined, app],
      ['POST', '/api/chat', UI_CHAT, AT_A_TIME],
      ['POST', '/api/ag-ui', AG_UI, app],
    ];
    for (const [method, path, body, refusal] of WAYS)
      it(`refuses ${method} ${path}, and not another user's`, async () => {
        const { tokens } = limited;
        const refused = await limited.send(tokens.ann, method, path, body);
        expect(refused.status).to.equal(429);
        expect(refused.headers.get('retry-after')).to.equal('1');
        const text = await refused.text();
        if (typeof refusal === 'string') expect(text).to.equal(refusal);
        else {
          const answer = JSON.parse(text) as { readonly error: unknown };
          if (path === '/v1/messages') expect(answer.error).to.deep.equal(refusal);
          else expect(answer).to.deep.equal(refusal);
        }
        const answered = await limited.send(tokens.bob, method, path, body);
        expect(answered.status).not.to.equal(429);
        await answered.text();
      });

    it('refuses messages on a WebSocket, which stays open', async () => {
      const socket = await openSocket({ url: limited.url, token: limited.tokens.ann });
      const turn = await socket.turn({ model: MODEL, input: 'Hello' });
      expect(turn).to.deep.include({ status: 429 });
      expect(turn.error).to.include({ code: 'rate_limit_exceeded', message: AT_A_TIME });
      await socket.close();
      const other = await openSocket({ url: limited.url, token: limited.tokens.bob });
      expect((await other.turn({ model: MODEL, input: 'Hello' })).error).to.equal(undefined);
      await other.close();
    });

    it('lets the user end what counts', async () => {
      for (const [method, path] of [
        ['POST', '/api/runs/none/cancel'],
        ['POST', '/v1/responses/none/cancel'],
        ['DELETE', '/v1/responses/none'],
        ['POST', '/api/chat/none/stop'],
      ] as const)
        expect((await limited.send(limited.tokens.ann, method, path)).status, path).not.to.equal(429);
    });

    it('admits the next when the client leaves', async () => {
      leave.abort();
      await limited.simulator.nextAbort();
      end();
      await until(async () => {
        const response = await limited.send(limited.tokens.ann, 'GET', '/v1/models');
        await response.text();
        return response.status === 200;
      });
    });
  });

  describe('with one open stream', () => {
    serve({ USER_CONNECTIONS: '1' });
    const STREAMS = ['/api/runs/stream', '/api/output/stream'];
    const upgrade = (token: string): WebSocket =>
      new WebSocket(`${limited.url.replace('http', 'ws')}/v1/responses`, {
        headers: { authorization: `Bearer ${token}` },
      });
    for (const open of [...STREAMS, 'a WebSocket'])
      it(`refuses others beside ${open} until it is closed`, async () => {
        // The stream that is opened last still counts for a while.
        const ann = await limited.issue(`ann at ${open}`);
        const leave = new AbortController();
        const socket = open === 'a WebSocket' ? upgrade(ann) : undefined;
        if (socket === undefined) {
          const { status } = await limited.send(ann, 'GET', open, undefined, leave.signal);
          expect(status).to.equal(200);
        } else await once(socket, 'open');
        for (const path of [...STREAMS, '/api/chat/none/stream']) {
          const refused = await limited.send(ann, 'GET', path);
          expect(refused.status, path).to.equal(429);
          expect(refused.headers.get('retry-after')).to.equal('1');
          expect(await refused.text()).to.include('You are limited to 1 open stream, WebSocket and subscription');
        }
        const second = upgrade(ann);
        second.on('error', () => undefined);
        const [, response] = (await once(second, 'unexpected-response')) as [unknown, IncomingMessage];
        expect(response.statusCode).to.equal(429);
        expect(response.headers['retry-after']).to.equal('1');
        second.terminate();
        const other = upgrade(limited.tokens.bob);
        await once(other, 'open');
        other.terminate();
        leave.abort();
        socket?.terminate();
        const next = new AbortController();
        await until(async () => {
          const response = await limited.send(ann, 'GET', '/api/runs/stream', undefined, next.signal);
          if (response.status === 200) return true;
          await response.text();
          return false;
        });
        next.abort();
      });
  });

  describe('with one message that waits', () => {
    serve({ USER_QUEUED_MESSAGES: '1' });

    it('refuses another until it is answered', async () => {
      const end = limited.hold();
      const input = (token: string): Promise<Response> =>
        limited.send(token, 'POST', '/api/input', { message: 'Hello', model: MODEL });
      expect((await input(limited.tokens.ann)).status).to.equal(202);
      const refused = await input(limited.tokens.ann);
      expect(refused.status).to.equal(429);
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect(await refused.text()).to.include('You are limited to 1 waiting message: 1 are waiting.');
      expect((await input(limited.tokens.bob)).status).to.equal(202);
      end();
      await until(async () => (await input(limited.tokens.ann)).status === 202);
    });
  });
});

describe('The limits of a user per minute', () => {
  let limited: LimitedServer;
  afterEach(() => limited.close());

  it('on requests refuse the next, on a WebSocket too, until the minute is over', async () => {
    limited = await LimitedServer.start({ USER_REQUESTS_PER_MINUTE: '3' });
    const { tokens } = limited;
    const socket = await openSocket({ url: limited.url, token: tokens.ann });
    const other = await openSocket({ url: limited.url, token: tokens.bob });
    await until(async () => (await socket.turn({ model: MODEL, input: 'Hello' })).status === 429);
    const refused = await limited.send(tokens.ann, 'GET', '/api/runs');
    // Another minute may have begun.
    if (refused.status === 429) expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await other.turn({ model: MODEL, input: 'Hello' })).error).to.equal(undefined);
    await Promise.all([socket.close(), other.close()]);
  });

  it('on tokens refuse the next model call, whatever starts it', async () => {
    limited = await LimitedServer.start({ USER_TOKENS_PER_MINUTE: '1' });
    const { tokens } = limited;
    const ask = (token: string): Promise<Response> => limited.send(token, 'POST', '/v1/chat/completions', CHAT);
    await until(async () => (await ask(tokens.ann)).status === 429);
    const { body } = await answerOf(await limited.send(tokens.ann, 'POST', '/v1/messages', { ...CHAT, max_tokens: 9 }));
    expect(body).to.include('You are limited to 1 token per minute');
    expect((await ask(tokens.bob)).status).to.equal(200);
  });

  async function answerOf(response: Response): Promise<{ readonly status: number; readonly body: string }> {
    return { status: response.status, body: await response.text() };
  }
});

describe('The limits of a user of two servers on one database', () => {
  let mongo: Awaited<ReturnType<typeof startTestMongo>>;
  let first: LimitedServer;
  let second: LimitedServer;
  before(async () => {
    mongo = await startTestMongo();
    const env = {
      MONGO_URL: mongo.url,
      USER_PARALLEL_CALLS: '1',
      AI_SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    };
    first = await LimitedServer.start(env);
    second = await LimitedServer.start(env);
  });
  after(async () => {
    await first.close();
    await second.close();
    await mongo.stop();
  });

  it('count what the user does at either', async () => {
    const { ann, bob } = first.tokens;
    const end = first.hold();
    const late = first.send(ann, 'POST', '/v1/chat/completions', CHAT);
    await first.simulator.nextRequest();
    const refused = await second.send(ann, 'POST', '/v1/chat/completions', CHAT);
    expect(refused.status).to.equal(429);
    expect(await refused.text()).to.include(AT_A_TIME);
    expect((await second.send(bob, 'POST', '/v1/chat/completions', CHAT)).status).to.equal(200);
    end();
    expect((await late).status).to.equal(200);
    await until(async () => (await second.send(ann, 'POST', '/v1/chat/completions', CHAT)).status === 200);
  });
});

describe('The limits of a Meteor user', () => {
  let app: MeteorApp;
  before(async () => {
    app = await startMeteorApp({ USER_PARALLEL_CALLS: 1, USER_CONNECTIONS: 1 });
  });
  after(() => app.stop());

  it('refuse another method while one runs, and admit it afterwards', async () => {
    const gate = deferred();
    app.simulator.enqueue(async () => {
      await gate.promise;
      return { text: 'Late.' };
    });
    const first = app.call('ann', 'ai.llm.generateText', { requestId: 'r1', providerId: 'shared', input: 'Hello' });
    await app.simulator.nextRequest();
    for (const method of ['ai.runs.list', 'ai.providers.list']) {
      const error = await failure(app.call('ann', method, {}));
      expect(error, method).to.include({ error: 'rate-limited', reason: AT_A_TIME });
      expect(error).to.have.deep.property('details', { retryable: true, retryAfterMs: 1_000 });
    }
    await app.call('bob', 'ai.runs.list', {});
    gate.resolve();
    await first;
    await app.call('ann', 'ai.runs.list', {});
  });

  it('refuse another subscription while one is open, and admit it when that has stopped', async () => {
    const client = app.client('ann');
    const open = client.subscribe('ai.runs', {});
    await open.ready;
    for (const [name, argument] of [
      ['ai.runs', {}],
      ['ai.run', { executionId: 'none' }],
      ['ai.providers', undefined],
      ['ai.changes', { topic: 'runs' }],
    ] as const)
      expect(await failure(app.client('ann').subscribe(name, argument).ready), name).to.have.property(
        'error',
        'rate-limited',
      );
    await app.client('bob').subscribe('ai.runs', {}).ready;
    open.stop();
    await client.subscribe('ai.providers').ready;
    client.close();
    const other = app.client('ann');
    await other.subscribe('ai.changes', { topic: 'runs' }).ready;
  });
});
