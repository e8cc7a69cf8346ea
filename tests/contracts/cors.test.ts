/** Calls of pages of other origins: which headers they get, on every kind of route. */
import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { RunningServer } from '../../imports/host/node/startServer';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { startStandalone } from '../support/startStandalone';

const PAGE = 'https://app.example.com';
const OTHER_PAGE = 'http://localhost:5173';
const STRANGER = 'https://stranger.example.com';
const TOKEN = 'the-token-of-the-operator';

const CHAT = { model: 'openai', messages: [{ role: 'user', content: 'Hello' }] };
const REQUESTS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  responses: ['/v1/responses', { model: 'openai', input: 'Hello' }],
  'chat completions': ['/v1/chat/completions', CHAT],
  'the chat completions of Azure': ['/openai/deployments/openai/chat/completions', CHAT],
  'an alias': ['/openai/v1/chat/completions', CHAT],
  messages: ['/v1/messages', { ...CHAT, max_tokens: 100 }],
  gemini: ['/v1beta/models/openai:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }],
};

const corsHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
const allowed = (origin = PAGE): object => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': '*',
});
const variesBy = ({ headers }: Response): readonly string[] =>
  (headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase());

describe('pages of other origins', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway({ api: { corsOrigins: [PAGE, OTHER_PAGE] } });
  });
  after(() => gateway.close());

  const from = (origin: string): { headers: Record<string, string> } => ({ headers: { origin } });
  const preflight = (path: string, origin: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
        ...headers,
      },
    });

  for (const [api, [path, body]] of Object.entries(REQUESTS))
    it(`may call ${api} if they are listed`, async () => {
      const checked = await preflight(path, PAGE);
      expect(checked.status).to.equal(204);
      expect(corsHeaders(checked)).to.include({
        'access-control-allow-origin': PAGE,
        'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      });
      expect(checked.headers.get('access-control-allow-methods')).to.include('POST');
      for (const origin of [PAGE, OTHER_PAGE]) {
        const response = await gateway.request(path, body, from(origin));
        expect(response.status).to.equal(200);
        expect(corsHeaders(response)).to.deep.equal(allowed(origin));
        expect(variesBy(response)).to.include('origin');
        expect(response.headers.get('x-request-id')).to.match(/^req_/);
        await response.text();
      }
    });

  it('get streams', async () => {
    const response = await gateway.request('/v1/chat/completions', { ...CHAT, stream: true }, from(PAGE));
    expect(corsHeaders(response)).to.deep.equal(allowed());
    expect(response.headers.get('content-type')).to.include('text/event-stream');
    expect(await response.text()).to.include('[DONE]');
  });

  it('get errors that they can read', async () => {
    const refused = [
      [401, fetch(gateway.url + '/v1/models', from(PAGE))],
      [
        403,
        gateway.request('/v1/responses', {}, { headers: { origin: PAGE, authorization: `Bearer ${TOKENS.reader}` } }),
      ],
      [400, gateway.request('/v1/responses', { model: 1 }, from(PAGE))],
      [404, gateway.request('/v1/unknown', undefined, from(PAGE))],
      [405, gateway.request('/v1/chat/completions', undefined, from(PAGE))],
      [415, gateway.request('/v1/messages', 'text', { headers: { origin: PAGE, 'content-type': 'text/plain' } })],
    ] as const;
    for (const [status, pending] of refused) {
      const response = await pending;
      expect(response.status).to.equal(status);
      expect(corsHeaders(response), String(status)).to.deep.equal(allowed());
      expect(await response.text()).to.include('error');
    }
  });

  it('are never allowed to send cookies', async () => {
    const response = await preflight('/v1/responses', PAGE);
    expect(response.headers.has('access-control-allow-credentials')).to.equal(false);
  });

  it('get nothing if they are not listed', async () => {
    for (const origin of [STRANGER, 'null', `${PAGE}.evil.example`, `${PAGE}:8443`, 'http://app.example.com']) {
      const checked = await preflight('/v1/responses', origin);
      expect(checked.headers.has('access-control-allow-origin'), origin).to.equal(false);
      expect(variesBy(checked)).to.include('origin');
      const response = await gateway.request('/v1/models', undefined, from(origin));
      expect(response.headers.has('access-control-allow-origin'), origin).to.equal(false);
      expect(variesBy(response)).to.include('origin');
      await response.text();
    }
  });

  it('leave other OPTIONS requests to the route', async () => {
    const response = await fetch(gateway.url + '/v1/responses', { method: 'OPTIONS', headers: { origin: PAGE } });
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('POST');
    await response.text();
  });

  it('are refused as before without a list', async () => {
    const closed = await startGateway();
    try {
      const response = await closed.request('/v1/models', undefined, from(PAGE));
      expect(corsHeaders(response)).to.deep.equal({});
      expect(response.headers.has('vary')).to.equal(false);
      await response.text();
      const checked = await fetch(`${closed.url}/v1/models`, {
        method: 'OPTIONS',
        headers: { origin: PAGE, 'access-control-request-method': 'GET' },
      });
      expect(checked.status).to.equal(405);
      expect(corsHeaders(checked)).to.deep.equal({});
      await checked.text();
    } finally {
      await closed.close();
    }
  });

  it('make the list fail that has something else than origins', async () => {
    const failed = await startGateway({ api: { corsOrigins: ['*'] } }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).to.have.property('path', 'corsOrigins');
  });
});

describe('pages of other origins at the server of npm start', () => {
  let server: RunningServer;
  before(async () => {
    server = await startStandalone({ CORS_ORIGINS: `${OTHER_PAGE},${PAGE}`, BOLIDE_API_TOKEN: TOKEN });
  });
  after(() => server.close());

  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(server.url + path, { ...init, headers: { origin: PAGE, ...(init.headers as Record<string, string>) } });
  const withToken = { authorization: `Bearer ${TOKEN}` };

  it('may call the operations and their stream with a token', async () => {
    for (const path of [
      '/api/runs',
      '/api/budgets',
      '/api/providers',
      '/health',
      '/v1/models',
      '/api/runs/unknown/else',
    ]) {
      const response = await ask(path, { headers: withToken });
      expect(corsHeaders(response), path).to.deep.equal(allowed());
      await response.text();
    }
    const controller = new AbortController();
    const stream = await ask('/api/runs/stream', { headers: withToken, signal: controller.signal });
    expect(corsHeaders(stream)).to.deep.equal(allowed());
    controller.abort();
  });

  it('get no access to the session and the pages of the dashboard', async () => {
    for (const path of ['/api/session', '/', '/favicon.svg', '/dashboard/unknown.js', '/oauth/callback']) {
      for (const method of ['GET', 'OPTIONS']) {
        const response = await ask(path, {
          method,
          headers: { ...withToken, 'access-control-request-method': 'POST' },
        });
        expect(corsHeaders(response), `${method} ${path}`).to.deep.equal({});
        await response.text();
      }
    }
    const opened = await ask('/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: TOKEN }),
    });
    expect(opened.status).to.equal(403);
    expect(opened.headers.has('set-cookie')).to.equal(false);
    await opened.text();
  });

  it('cannot use a session, neither for calls nor for a WebSocket', async () => {
    const own = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: TOKEN }),
    });
    const [cookie = ''] = (own.headers.get('set-cookie') ?? '').split(';');
    expect(cookie).to.include('bolide-session=');
    await own.text();
    const response = await ask('/api/runs', { headers: { cookie } });
    expect(response.status).to.equal(403);
    await response.text();
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`, {
      origin: PAGE,
      headers: { cookie },
    });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).to.include('403');
  });
});
