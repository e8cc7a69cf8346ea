/** Refused requests: how much of their bodies the server reads, and how often callers may guess a token. */
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { sendRaw } from '../support/sendRaw';
import type { RawExchange } from '../support/sendRaw';
import { startStandalone } from '../support/startStandalone';

const MEBIBYTE = 1024 * 1024;
const HUGE = 64 * MEBIBYTE;
/** What a connection takes before it closes includes the buffers of the operating system. */
const MOST_TAKEN = 24 * MEBIBYTE;

/** Every kind of route that has, or could have, a body. */
const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/api/session'],
  ['DELETE', '/api/session'],
  ['POST', '/oauth/acme/start'],
  ['POST', '/oauth/callback'],
  ['GET', '/oauth/callback'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/messages'],
  ['POST', '/v1beta/models/m:generateContent'],
  ['POST', '/v1/files'],
  ['POST', '/v1/embeddings'],
  ['POST', '/v1/unknown'],
  ['PUT', '/v1/responses'],
  ['POST', '/api/input'],
  ['POST', '/api/runs'],
  ['POST', '/api/runs/x/cancel'],
  ['POST', '/api/chat'],
  ['POST', '/api/ag-ui'],
  ['POST', '/api/providers'],
  ['POST', '/api/tokens'],
  ['GET', '/health'],
  ['GET', '/'],
  ['POST', '/nothing'],
];

describe('a caller without a valid token', () => {
  let server: RunningServer;
  before(async () => {
    server = await startStandalone();
  });
  after(() => server.close());

  const send = (method: string, path: string, bodyBytes: number, more: readonly string[] = []): Promise<RawExchange> =>
    sendRaw(server.url, {
      head: [
        `${method} ${path} HTTP/1.1`,
        'host: 127.0.0.1',
        'content-type: application/json',
        `content-length: ${bodyBytes}`,
        ...more,
      ].join('\r\n'),
      bodyBytes,
    });

  for (const [method, path] of ROUTES)
    it(`is read no further than a small body by ${method} ${path}`, async () => {
      const { status, taken, isClosed } = await send(method, path, HUGE);
      expect(status, 'status').to.be.greaterThan(0);
      expect(taken).to.be.lessThan(MOST_TAKEN);
      expect(isClosed, 'closed').to.equal(true);
    });

  it('is not read at all by a sign-in of 5 KB, whose server takes 4 KB', async () => {
    const signIn = (token: string): Promise<Response> =>
      fetch(`${server.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
    expect((await signIn('x'.repeat(5_000))).status).to.equal(413);
    expect((await signIn(server.token)).status).to.equal(200);
  });

  it('is refused a sign-in from another page before its body is read', async () => {
    const { status, text } = await send('POST', '/api/session', 4_000, ['origin: http://evil.example']);
    expect(status).to.equal(403);
    expect(text).to.contain('not sent by a page of this server');
  });

  it('is cut off where a body of unknown length is longer than the route takes', async () => {
    const head = ['POST /api/session HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json'];
    const chunk = 10 * MEBIBYTE;
    const { status, taken, isClosed } = await sendRaw(server.url, {
      head: [...head, 'transfer-encoding: chunked', '', chunk.toString(16)].join('\r\n').replace(/\r\n$/, ''),
      bodyBytes: chunk,
    });
    expect(status).to.be.oneOf([400, 413]);
    expect(isClosed && taken < chunk, `${taken} bytes`).to.equal(true);
  });

  it('loses the connection of a refused WebSocket, although it keeps its own side open', async () => {
    const { status, isClosed, text } = await sendRaw(server.url, {
      head: [
        'GET /v1/responses HTTP/1.1',
        'host: 127.0.0.1',
        'connection: upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ].join('\r\n'),
      bodyBytes: HUGE,
    });
    expect(status).to.equal(401);
    expect(text).to.contain('authentication_error');
    expect(isClosed).to.equal(true);
  });

  it('reads the refusal of a request of a few hundred kilobytes, and keeps its connection', async () => {
    for (const path of ['/v1/messages', '/v1/responses', '/api/runs']) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer expired' },
        body: JSON.stringify({ text: 'x'.repeat(500_000) }),
      });
      expect(response.status, path).to.equal(401);
      await response.text();
    }
  });
});

describe('a caller with a valid token', () => {
  const LIMIT_MB = 16;
  let server: RunningServer;
  before(async () => {
    server = await startStandalone({ HTTP_MAX_BODY_MB: String(LIMIT_MB) });
  });
  after(() => server.close());

  /** Sends a body whose length is stated, or as much of a chunk of twice that length. */
  const upload = (path: string, bytes: number, isAnnounced: boolean): Promise<RawExchange> =>
    sendRaw(server.url, {
      head: [
        `POST ${path} HTTP/1.1`,
        'host: 127.0.0.1',
        `content-type: ${path === '/v1/files' ? 'multipart/form-data; boundary=b' : 'application/json'}`,
        `authorization: Bearer ${server.token}`,
        ...(isAnnounced ? [`content-length: ${bytes}`] : ['transfer-encoding: chunked', '', (2 * bytes).toString(16)]),
      ].join('\r\n'),
      bodyBytes: bytes,
    });

  for (const path of ['/v1/responses', '/v1/files', '/api/runs'])
    for (const isAnnounced of [true, false]) {
      const kind = isAnnounced ? 'a stated' : 'an unknown';
      it(`sends all of a body of ${kind} length up to twice the limit to ${path}, and reads the refusal`, async () => {
        const bytes = (2 * LIMIT_MB - 2) * MEBIBYTE;
        const { status, taken, isClosed } = await upload(path, bytes, isAnnounced);
        expect({ status, taken, isClosed }).to.deep.equal({ status: 413, taken: bytes, isClosed: false });
      });
    }

  it('is disconnected by a body far beyond the limit', async () => {
    const { taken, isClosed } = await upload('/api/runs', 4 * HUGE, true);
    expect(isClosed && taken < 2 * LIMIT_MB * MEBIBYTE + MOST_TAKEN, `${taken} bytes`).to.equal(true);
  });
});

describe('invalid tokens', () => {
  let server: RunningServer;
  beforeEach(async () => {
    server = await startStandalone({
      AUTH_FAILURES_PER_ADDRESS: '5',
      AUTH_FAILURES: '12',
      HTTP_FORWARDED_COUNT: '1',
    });
  });
  afterEach(() => server.close());

  const call = async (path: string, token: string, address: string): Promise<Response> => {
    const response = await fetch(server.url + path, {
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': `203.0.113.9, ${address}` },
    });
    await response.arrayBuffer();
    return response;
  };
  const guess = async (count: number, address: string): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at += 1) statuses.push((await call('/v1/models', `guess-${at}`, address)).status);
    return statuses;
  };

  it('are limited by address: by routes, sockets, OAuth and the sign-in together', async () => {
    const address = '192.0.2.1';
    expect(await guess(7, address)).to.deep.equal([401, 401, 401, 401, 401, 429, 429]);
    const refused = await call('/v1/messages/batches', 'another', address);
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await call('/oauth/acme/start', 'another', address)).status).to.equal(429);
    const signIn = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ token: server.token }),
    });
    expect(signIn.status, 'even with the right token, or the limit would not limit').to.equal(429);
    const { status, text } = await sendRaw(server.url, {
      head: [
        'GET /v1/responses HTTP/1.1',
        'host: 127.0.0.1',
        `x-forwarded-for: ${address}`,
        'authorization: Bearer another',
        'connection: upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ].join('\r\n'),
    });
    expect(status).to.equal(429);
    expect(text).to.match(/retry-after: \d+/);
    expect(await guess(1, '192.0.2.2'), 'another address').to.deep.equal([401]);
  });

  it('of an address do not lock out the tokens that are in use there', async () => {
    const address = '192.0.2.1';
    expect((await call('/v1/models', server.token, address)).status).to.equal(200);
    await guess(20, address);
    expect((await call('/v1/models', server.token, address)).status).to.equal(200);
  });

  it('are limited in total, except where a valid token was used', async () => {
    const used = '192.0.2.200';
    expect((await call('/v1/models', server.token, used)).status).to.equal(200);
    const statuses: number[] = [];
    for (let at = 0; at < 20; at += 1) statuses.push(...(await guess(1, `198.51.100.${at}`)));
    expect(statuses.filter((status) => status === 401)).to.have.length(12);
    expect(statuses.slice(12)).to.deep.equal(Array.from({ length: 8 }, () => 429));
    const { token } = await server.host.apiTokens.tokens.issue({ userId: 'bob', name: 'test', scopes: ['read'] });
    expect((await call('/v1/models', token, used)).status, 'a new token at a known address').to.equal(200);
    expect((await call('/v1/models', token, '198.51.100.99')).status, 'a known token at a new address').to.equal(200);
  });

  it('are counted for the address that the proxy saw, whatever the client writes before it', async () => {
    for (let at = 0; at < 5; at += 1)
      await fetch(`${server.url}/v1/models`, {
        headers: { authorization: `Bearer guess-${at}`, 'x-forwarded-for': `10.0.0.${at}, 192.0.2.1` },
      });
    expect(await guess(1, '192.0.2.1')).to.deep.equal([429]);
  });

  it('are counted for the network of an IPv6 address', async () => {
    for (let at = 0; at < 5; at += 1) await guess(1, `2001:db8:0:1::${at}`);
    expect(await guess(1, '2001:db8:0:1:ffff:ffff:ffff:ffff')).to.deep.equal([429]);
    expect(await guess(1, '2001:db8:0:2::1')).to.deep.equal([401]);
  });

  it('are not made valid by a session beside them', async () => {
    const signIn = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1' },
      body: JSON.stringify({ token: server.token }),
    });
    const [cookie = ''] = (signIn.headers.get('set-cookie') ?? '').split(';');
    const response = await fetch(`${server.url}/v1/models`, { headers: { cookie, authorization: 'Bearer guess' } });
    expect(response.status).to.equal(401);
    expect((await fetch(`${server.url}/v1/models`, { headers: { cookie } })).status).to.equal(200);
  });
});
