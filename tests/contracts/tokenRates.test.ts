/** The rates of API tokens by every way in: each refuses in its own shape, and counts once. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { RateLimits } from '../../imports/business/ai/domain/types/ApiTokenLimits';
import { LimitedServer } from '../support/LimitedServer';
import { openSocket } from '../support/responsesSocket';
import { until } from '../support/until';

const MODEL = 'groq/llama-3.3-70b-versatile';
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] };
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const UI_CHAT = { id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] };
const AG_UI = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [], forwardedProps: {} };
const AT_A_TIME = 'The API token "test" is limited to 1 request at a time: 1 are in progress. Wait for one to end.';

describe('The rates of an API token', () => {
  let limited: LimitedServer;
  /** Another token of the same user, without rates. */
  let free: string;
  const issue = (rateLimits: RateLimits): Promise<string> => limited.issue('ann', rateLimits);
  const upgrade = (token: string): WebSocket =>
    new WebSocket(`${limited.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${token}` },
    });
  before(async () => {
    limited = await LimitedServer.start({});
    free = limited.tokens.ann;
  });
  after(() => limited.close());

  describe('with one request in progress', () => {
    let token: string;
    let leave: AbortController;
    let end: () => void;
    before(async () => {
      token = await issue({ parallel: 1 });
      leave = new AbortController();
      end = limited.hold();
      limited
        .send(token, 'POST', '/v1/chat/completions', { ...CHAT, stream: true }, leave.signal)
        .catch(() => undefined);
      await limited.simulator.nextRequest();
    });

    const openAI = (type: string): object => ({
      error: { message: AT_A_TIME, type, param: null, code: 'rate_limit_exceeded' },
    });
    const app = { error: { code: 'rate-limited', message: AT_A_TIME } };

    const WAYS: readonly (readonly [method: string, path: string, body: unknown, refusal: unknown])[] = [
      ['POST', '/v1/chat/completions', CHAT, openAI('rate_limit_error')],
      ['POST', '/v1/responses', { model: MODEL, input: 'Hello' }, openAI('too_many_requests')],
      ['POST', '/v1/responses', { model: MODEL, input: 'Hello', background: true }, openAI('too_many_requests')],
      ['POST', '/v1/responses/input_tokens', { model: MODEL, input: 'Hello' }, openAI('too_many_requests')],
      ['GET', '/v1/responses/none', undefined, openAI('too_many_requests')],
      ['POST', '/v1/embeddings', { model: 'openai', input: 'x' }, openAI('rate_limit_error')],
      ['GET', '/v1/models', undefined, openAI('rate_limit_error')],
      ['GET', '/v1/files', undefined, openAI('rate_limit_error')],
      ['POST', '/v1/messages', { ...CHAT, max_tokens: 9 }, { type: 'rate_limit_error', message: AT_A_TIME }],
      [
        'POST',
        `/v1beta/models/${encodeURIComponent(MODEL)}:generateContent`,
        GEMINI,
        { error: { code: 429, message: AT_A_TIME, status: 'RESOURCE_EXHAUSTED' } },
      ],
      ['POST', '/api/input', { message: 'Hello', model: MODEL }, openAI('too_many_requests')],
      ['POST', '/api/runs', { requestId: 'r', providerId: 'groq', input: 'Hello', tools: [] }, app],

      ['GET', '/api/runs', undefined, app],
      ['GET', '/api/queue', undefined, app],
      ['GET', '/api/tokens', undefined, app],
      ['GET', '/api/providers', undefined, app],
      ['POST', '/api/chat', UI_CHAT, AT_A_TIME],
      ['POST', '/api/ag-ui', AG_UI, app],
    ];
    for (const [method, path, body, refusal] of WAYS)
      it(`refuse ${method} ${path}, and not another token's`, async () => {
        const refused = await limited.send(token, method, path, body);
        expect(refused.status).to.equal(429);
        expect(refused.headers.get('retry-after')).to.equal('1');
        const text = await refused.text();
        if (typeof refusal === 'string') expect(text).to.equal(refusal);
        else {
          const answer = JSON.parse(text) as { readonly error: unknown };
          expect(path === '/v1/messages' ? answer.error : answer).to.deep.equal(refusal);
        }
        const answered = await limited.send(free, method, path, body);
        expect(answered.status).not.to.equal(429);
        await answered.text();
      });

    it('refuse messages on a WebSocket, which stays open', async () => {
      const socket = await openSocket({ url: limited.url, token });
      const turn = await socket.turn({ model: MODEL, input: 'Hello' });
      expect(turn).to.deep.include({ status: 429 });
      expect(turn.error).to.include({ code: 'rate_limit_exceeded', message: AT_A_TIME });
      await socket.close();
    });

    it('let the client end what counts', async () => {
      for (const [method, path] of [
        ['POST', '/api/runs/none/cancel'],
        ['POST', '/v1/responses/none/cancel'],
        ['DELETE', '/v1/responses/none'],
        ['POST', '/api/chat/none/stop'],
      ] as const)
        expect((await limited.send(token, method, path)).status, path).not.to.equal(429);
    });

    it('admit the next when the client leaves', async () => {
      leave.abort();
      await limited.simulator.nextAbort();
      end();
      await until(async () => (await limited.send(token, 'GET', '/v1/models')).status === 200);
    });
  });

  for (const open of ['/api/runs/stream', '/api/output/stream', 'a WebSocket'])
    it(`permit as many open streams as requests, beside them: ${open}`, async () => {
      const token = await issue({ parallel: 1 });
      const leave = new AbortController();
      const socket = open === 'a WebSocket' ? upgrade(token) : undefined;
      if (socket === undefined)
        expect((await limited.send(token, 'GET', open, undefined, leave.signal)).status).to.equal(200);
      else await once(socket, 'open');
      for (const path of ['/api/runs/stream', '/api/output/stream', '/api/chat/none/stream']) {
        const refused = await limited.send(token, 'GET', path);
        expect(refused.status, path).to.equal(429);
        expect(refused.headers.get('retry-after')).to.equal('1');
        expect(await refused.text()).to.include('is limited to 1 open stream and WebSocket: 1 are open.');
      }
      const second = upgrade(token);
      second.on('error', () => undefined);
      const [, response] = (await once(second, 'unexpected-response')) as [unknown, IncomingMessage];
      expect([response.statusCode, response.headers['retry-after']]).to.deep.equal([429, '1']);
      second.terminate();
      const other = upgrade(free);
      await once(other, 'open');
      other.terminate();
      expect((await limited.send(token, 'POST', '/v1/chat/completions', CHAT)).status).to.equal(200);
      leave.abort();
      socket?.terminate();
      const next = new AbortController();
      await until(
        async () => (await limited.send(token, 'GET', '/api/runs/stream', undefined, next.signal)).status === 200,
      );
      next.abort();
    });

  it('count a background response as in progress until it ends, and once', async () => {
    const token = await issue({ parallel: 1, requestsPerMinute: 100 });
    const end = limited.hold();
    const started = await limited.send(token, 'POST', '/v1/responses', {
      model: MODEL,
      input: 'Hello',
      background: true,
    });
    expect(started.status).to.equal(200);
    await limited.simulator.nextRequest();
    expect((await limited.send(token, 'GET', '/v1/models')).status).to.equal(429);
    end();
    await until(async () => (await limited.send(token, 'GET', '/v1/models')).status === 200);
  });

  it('count a run and a message once, whatever their turns, with the headers on every answer', async () => {
    const token = await issue({ requestsPerMinute: 100 });
    const leftAfter = async (method: string, path: string, body?: unknown): Promise<number> => {
      const { headers, status } = await limited.send(token, method, path, body);
      expect(status, path).to.be.within(200, 202);
      expect(headers.get('x-ratelimit-limit-requests')).to.equal('100');
      return Number(headers.get('x-ratelimit-remaining-requests'));
    };
    const used: number[] = [];
    for (const [method, path, body] of [
      ['POST', '/api/runs', { requestId: 'once', providerId: 'groq', input: 'Hello', tools: [] }],
      ['POST', '/api/input', { message: 'Hello', model: MODEL }],
      ['POST', '/v1/chat/completions', CHAT],
      ['GET', '/v1/models', undefined],
    ] as const) {
      const answered = limited.simulator.requests.length;
      used.push(100 - (await leftAfter(method, path, body)));
      if (method === 'POST') await until(() => limited.simulator.requests.length > answered);
    }
    // A minute that begins in between starts at 1 again.
    for (const [at, count] of used.entries()) expect([1, at === 0 ? 1 : used[at - 1]! + 1]).to.include(count);
  });

  it('on tokens hold for runs and messages, too', async () => {
    const token = await issue({ tokensPerMinute: 1 });
    const { status } = await limited.send(token, 'POST', '/v1/chat/completions', CHAT);
    expect(status, 'more than the limit, but alone in its minute').to.equal(200);
    let runs = 0;
    const isRefused = async (): Promise<boolean> => {
      const body = { requestId: `tokens-${(runs += 1)}`, providerId: 'groq', input: 'Hello', tools: [] };
      const started = await limited.send(token, 'POST', '/api/runs', body);
      expect(started.status).to.equal(202);
      const { executionId } = (await started.json()) as { readonly executionId: string };
      let outcome: unknown;
      await until(async () => {
        const { run } = (await (await limited.send(token, 'GET', `/api/runs/${executionId}`)).json()) as {
          readonly run: { readonly state: string; readonly error?: { readonly code: string } };
        };
        outcome = run.error?.code ?? run.state;
        return outcome === 'completed' || outcome === 'rate-limited';
      });
      return outcome === 'rate-limited';
    };
    await until(isRefused);
  });
});
